"""A pytest plugin: CuPy's random numbers, made by NumPy on the host.

    python -m pytest -p host_random ...

CuPy asks NVIDIA's cuRAND for them, which holds nothing for the CPU device
(docs/closed_libraries.md); tests that only want some input then test nothing of ours. Each function
of cupy.random named here gives what NumPy's function of that name gives, copied to the device; a
name that NumPy does not know, or a seed that a test sets, is left to CuPy. For run.py.
"""
import cupy
import numpy

NAMES = ("normal", "permutation", "rand", "randint", "randn", "random", "random_sample", "standard_normal",
         "uniform")


def made_on_host(name):
    make = getattr(numpy.random, name)

    def call(*words, dtype=None, **named):
        numbers = make(*words, **named)
        return cupy.asarray(numbers, dtype=dtype or numpy.asarray(numbers).dtype)
    return call


def pytest_configure(config):
    for name in NAMES:
        setattr(cupy.random, name, made_on_host(name))
