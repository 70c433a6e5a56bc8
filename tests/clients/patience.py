"""A pytest plugin: more time for the processes that cuda.core's tests start.

    PYTHONPATH=tests/clients python -m pytest -p patience ...

Each file of memory_ipc waits CHILD_TIMEOUT_SEC for a process that has to start Python and cuda.core.
The test's own process waits longer here; what the children wait for is already there.
"""
TIMES = 6


def pytest_collection_modifyitems(config, items):
    for module in {item.module for item in items}:
        if hasattr(module, "CHILD_TIMEOUT_SEC"):
            module.CHILD_TIMEOUT_SEC *= TIMES
