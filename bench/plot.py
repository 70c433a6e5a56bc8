"""Draws ratios by kernel on a logarithmic axis as SVG. Its own background, so it reads anywhere."""
import math
from xml.sax.saxutils import escape

ROW, TOP, LEFT, WIDTH, RIGHT = 20, 56, 150, 560, 30
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
STYLE = """
.back { fill: #ffffff } .text { fill: #1f2328; font: 12px sans-serif } .small { font-size: 11px }
.grid { stroke: #d1d9e0 } .one { stroke: #1f2328; stroke-width: 1.5 }
.s0 { fill: #0969da; stroke: #0969da } .s1 { fill: none; stroke: #bc4c00; stroke-width: 1.8 }
.s2 { fill: #818b98; stroke: none }
@media (prefers-color-scheme: dark) {
.back { fill: #0d1117 } .text { fill: #e6edf3 } .grid { stroke: #30363d } .one { stroke: #e6edf3 }
.s0 { fill: #58a6ff; stroke: #58a6ff } .s1 { stroke: #ffa657 } .s2 { fill: #8b949e }
}
"""


def axis(values):
    """The ticks from the last one at or below all values to the first at or above them."""
    low = max([t for t in TICKS if t <= min([1, *values])], default=TICKS[0])
    high = min([t for t in TICKS if t >= max([1, *values])], default=TICKS[-1])
    if low == high:
        low, high = 0.5, 2
    return [t for t in TICKS if low <= t <= high]


def place(value, ticks):
    """The x of a value; what lies beyond the axis is drawn at its end."""
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    share = (math.log(value) - low) / (high - low)
    return LEFT + WIDTH * min(1.0, max(0.0, share))


def mark(series, x, y, title):
    shape = (f'<circle class="s0" cx="{x:.1f}" cy="{y}" r="4">',
             f'<circle class="s1" cx="{x:.1f}" cy="{y}" r="6">',
             f'<rect class="s2" x="{x - 3:.1f}" y="{y - 3}" width="6" height="6">')[series]
    return f"{shape}<title>{escape(title)}</title>{shape.split()[0].replace('<', '</')}>"


def ratio_plot(title, series, names):
    """`series`: up to three (label, {name: ratio}); `names`: the rows from the top."""
    values = [value for _, points in series for value in points.values()]
    ticks = axis(values)
    bottom = TOP + ROW * len(names)
    height, width = bottom + 30, LEFT + WIDTH + RIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}">', f"<style>{STYLE}</style>",
           f'<rect class="back" width="{width}" height="{height}"/>',
           f'<text class="text" x="10" y="18">{escape(title)}</text>']
    for index, (label, _) in enumerate(series):
        x = LEFT + index * 190
        out += [mark(index, x, 36, label),
                f'<text class="text small" x="{x + 11}" y="40">{escape(label)}</text>']
    for tick in ticks:
        x = place(tick, ticks)
        kind = "one" if tick == 1 else "grid"
        out += [f'<line class="{kind}" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>',
                f'<text class="text small" text-anchor="middle" x="{x:.1f}" y="{bottom + 16}">'
                f"{tick:g}</text>"]
    for row, name in enumerate(names):
        y = TOP + ROW * row + ROW // 2
        out.append(f'<text class="text" text-anchor="end" x="{LEFT - 10}" y="{y + 4}">'
                   f"{escape(name)}</text>")
        # The last series first, so that the first one lies on top.
        for index in reversed(range(len(series))):
            label, points = series[index]
            if name in points:
                out.append(mark(index, place(points[name], ticks), y,
                                f"{name}: {label} {points[name]:.2f}"))
    return "\n".join([*out, "</svg>"]) + "\n"
