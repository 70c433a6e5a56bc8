"""Makes demo/input.png, the picture that the demo's filters work on: a small ray-traced scene.

Our own picture from our own code. Standard library only; takes some ten seconds. usage: make_input.py
"""
import math
import struct
import zlib
from pathlib import Path

WIDTH, HEIGHT, SAMPLES = 480, 360, 2
LIGHT = (-0.45, 0.8, -0.4)
# centre, radius, colour, mirror share
SPHERES = [((-1.25, 0.75, 4.6), 0.75, (0.85, 0.25, 0.2), 0.25),
           ((0.35, 1.0, 5.8), 1.0, (0.9, 0.9, 0.95), 0.7),
           ((1.75, 0.55, 4.2), 0.55, (0.2, 0.45, 0.85), 0.2),
           ((0.1, 0.3, 3.2), 0.3, (0.95, 0.75, 0.2), 0.15),
           ((-0.6, 0.22, 2.9), 0.22, (0.3, 0.7, 0.35), 0.1)]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def normal(a):
    size = math.sqrt(dot(a, a))
    return (a[0] / size, a[1] / size, a[2] / size)


SUN = normal(LIGHT)


def hit_sphere(origin, ray, sphere):
    (cx, cy, cz), radius = sphere[0], sphere[1]
    o = (origin[0] - cx, origin[1] - cy, origin[2] - cz)
    b = dot(o, ray)
    root = b * b - dot(o, o) + radius * radius
    if root < 0:
        return None
    distance = -b - math.sqrt(root)
    return distance if distance > 1e-4 else None


def sky(ray):
    t = max(0.0, ray[1])
    cloud = math.sin(ray[0] * 9 + math.sin(ray[1] * 23) * 1.5) * math.sin(ray[1] * 31 + ray[0] * 4)
    white = max(0.0, cloud) * 0.35 * min(1.0, t * 6)
    return tuple(a * (1 - t) + b * t + white for a, b in zip((0.78, 0.86, 0.95), (0.2, 0.42, 0.78)))


def trace(origin, ray, depth):
    best, what = None, None
    for sphere in SPHERES:
        distance = hit_sphere(origin, ray, sphere)
        if distance and (best is None or distance < best):
            best, what = distance, sphere
    if ray[1] < -1e-6:
        distance = -origin[1] / ray[1]
        if distance > 1e-4 and (best is None or distance < best):
            best, what = distance, None
    if best is None:
        return sky(ray)
    point = tuple(o + best * r for o, r in zip(origin, ray))
    if what:
        n = normal(tuple(p - c for p, c in zip(point, what[0])))
        colour, mirror = what[2], what[3]
    else:
        n = (0.0, 1.0, 0.0)
        dark = (math.floor(point[0] * 1.4) + math.floor(point[2] * 1.4)) & 1
        fade = min(1.0, best / 26)
        base = (0.24, 0.27, 0.3) if dark else (0.86, 0.84, 0.78)
        colour = tuple(c * (1 - fade) + 0.78 * fade for c in base)
        mirror = 0.06
    light = max(0.0, dot(n, SUN))
    if light > 0 and any(hit_sphere(point, SUN, s) for s in SPHERES if s is not what):
        light *= 0.15
    out = tuple(c * (0.28 + 0.78 * light) for c in colour)
    if depth > 0 and mirror > 0:
        d = dot(ray, n)
        bounced = normal(tuple(r - 2 * d * k for r, k in zip(ray, n)))
        seen = trace(tuple(p + 1e-3 * k for p, k in zip(point, n)), bounced, depth - 1)
        out = tuple(a * (1 - mirror) + b * mirror for a, b in zip(out, seen))
    if what:
        shine = max(0.0, dot(tuple(2 * dot(SUN, n) * k - s for k, s in zip(n, SUN)),
                             tuple(-r for r in ray))) ** 40
        out = tuple(a + 0.6 * shine for a in out)
    return out


def main():
    rows = bytearray()
    eye = (0.0, 1.25, -1.2)
    for y in range(HEIGHT):
        rows.append(0)
        for x in range(WIDTH):
            total = [0.0, 0.0, 0.0]
            for sub in range(SAMPLES * SAMPLES):
                px = (x + (sub % SAMPLES + 0.5) / SAMPLES - WIDTH / 2) / WIDTH
                py = (HEIGHT / 2 - y - (sub // SAMPLES + 0.5) / SAMPLES) / WIDTH
                colour = trace(eye, normal((px, py - 0.08, 1.15)), 3)
                total = [a + min(1.0, b) for a, b in zip(total, colour)]
            rows += bytes(round(255 * (c / SAMPLES ** 2) ** (1 / 1.6)) for c in total)

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
           chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))
    Path(__file__).with_name("input.png").write_bytes(png)


if __name__ == "__main__":
    main()
