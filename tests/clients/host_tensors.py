"""A pytest plugin for test suites that do arithmetic on PyTorch tensors on "cuda". PyTorch's own CUDA
kernels are machine code only and cannot run on the CPU device, so every PyTorch operation that would
launch one is computed on the host: its tensors' storages are copied there and back. Memory, addresses,
copies and views stay PyTorch's and the driver's; the suite's own kernels are not touched.

    PYTHONPATH=tests/clients limen run VENV/bin/python -m pytest -p host_tensors ...
"""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

# Allocate and fill nothing.
ALLOCATE = {"aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty",
            "aten::new_empty_strided"}


def on_device(x):
    return isinstance(x, torch.Tensor) and x.device.type == "cuda"


def names_device(x):
    return isinstance(x, torch.device) and x.type == "cuda"


class Mirror:
    """The host's copies of the storages that one operation touches: one a storage, so that aliases
    stay aliases."""

    def __init__(self):
        self.storages = {}

    def down(self, x):
        if names_device(x):
            return torch.device("cpu")
        if not on_device(x):
            return x
        device = x.untyped_storage()
        if device.data_ptr() not in self.storages:
            self.storages[device.data_ptr()] = (device, device.cpu())
        host = self.storages[device.data_ptr()][1]
        return torch.empty(0, dtype=x.dtype).set_(host, x.storage_offset(), x.shape, x.stride())

    def write_back(self, x):
        if on_device(x):
            device, host = self.storages[x.untyped_storage().data_ptr()]
            device.copy_(host)


def up(x):
    """Contiguous or otherwise dense: what PyTorch moves as bytes."""
    if not isinstance(x, torch.Tensor) or x.device.type != "cpu":
        return x
    dense = torch.empty_like(x)  # strides kept where they leave no gaps
    dense.copy_(x)
    return dense.to("cuda")


class OnHost(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        flat = tree_flatten((args, kwargs))[0]
        if not any(on_device(x) or names_device(x) for x in flat):
            return func(*args, **kwargs)
        schema = func._schema
        named = list(zip(schema.arguments, args)) + [(a, kwargs[a.name]) for a in schema.arguments
                                                     if a.name in kwargs]
        written = [value for argument, value in named
                   if argument.alias_info is not None and argument.alias_info.is_write]
        is_view = not written and any(a.alias_info is not None for a in schema.arguments)
        if is_view or schema.name in ALLOCATE:
            return func(*args, **kwargs)
        mirror = Mirror()
        host_args, host_kwargs = tree_map(mirror.down, (args, kwargs))
        result = func(*host_args, **host_kwargs)
        for value in tree_flatten(written)[0]:
            mirror.write_back(value)
        if written:
            return written[0] if isinstance(result, torch.Tensor) else tuple(written)
        goes_up = any(names_device(x) for x in flat) or schema.name != "aten::_to_copy" or (
            kwargs.get("device") is None)
        return tree_map(up, result) if goes_up else result


MODE = OnHost()


def pytest_sessionstart(session):
    MODE.__enter__()


def pytest_sessionfinish(session):
    MODE.__exit__(None, None, None)
