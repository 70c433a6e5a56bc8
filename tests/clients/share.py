"""A pytest plugin: runs a part of each test function's parameter sets.

    PYTHONPATH=tests/clients python -m pytest -p share --share N ...

At most N sets of each function are run, evenly spread. Sets are pytest's own, and the classes that
CuPy makes of one class (`TestPut_param_3_{...}`).
"""
import re


def pytest_addoption(parser):
    parser.addoption("--share", type=int, default=0)


def function_of(item):
    owner = re.sub(r"_param_\d+_\{.*", "", item.cls.__name__) if item.cls else ""
    return item.path, owner, getattr(item, "originalname", item.name)


def pytest_collection_modifyitems(config, items):
    most = config.getoption("--share")
    if not most:
        return
    groups = {}
    for item in items:
        groups.setdefault(function_of(item), []).append(item)
    kept = set()
    for group in groups.values():
        n = min(most, len(group))
        kept.update(id(group[i * len(group) // n]) for i in range(n))
    config.hook.pytest_deselected(items=[i for i in items if id(i) not in kept])
    items[:] = [i for i in items if id(i) in kept]
