"""What the benchmark reckons from measured times: ratios, means, shares of the machine's limits."""
import math
import statistics

# The peers that are native C++; the best of them is what a ratio may be taken to.
NATIVE = ("openmp", "openmp_fast", "openmp_clang")


def geometric_mean(values):
    """None where there is nothing to take it of. Values must be above 0."""
    values = list(values)
    if not values:
        return None
    return math.exp(statistics.fmean(math.log(value) for value in values))


def ratio(times, peer, other):
    """The median over the repetitions of `peer`'s time by `other`'s in the same repetition."""
    return statistics.median(a / b for a, b in zip(times[peer], times[other], strict=True))


def best_native(medians):
    """The native peer with the shortest median time, or None."""
    native = [peer for peer in NATIVE if peer in medians]
    return min(native, key=medians.get) if native else None


def roofline_ms(kernel, limits):
    """The least time in which this machine can move the kernel's bytes and do its operations.

    `limits` is what bench/roofline.cpp prints. The bandwidth is the greatest it found, whatever the
    kernel's mix of reads and writes.
    """
    bandwidth = max(limits["read_gbs"], limits["write_gbs"], limits["triad_gbs"]) * 1e6
    peak = limits[f"{kernel.precision}_gflops"] * 1e6
    return max(kernel.bytes / bandwidth, kernel.flops / peak)


def roofline_share(kernel, limits, took_ms):
    """1 is the machine's limit; more than 1 means that data stayed in cache."""
    return roofline_ms(kernel, limits) / took_ms


def means(rows):
    """Geometric means over all rows that have the two numbers; None where no row has."""
    return {
        "openmp": geometric_mean(row["ratios"]["limen"] for row in rows.values()
                                 if "limen" in row["ratios"]),
        "best": geometric_mean(row["to_best"] for row in rows.values() if row["to_best"]),
        "over_opencl": geometric_mean(row["over_opencl"] for row in rows.values()
                                      if row["over_opencl"]),
    }
