"""Triton's language, a sample of our own: each kernel against numpy. PyTorch only holds the memory,
since its wheels carry no PTX and so none of its own kernels run on the CPU device.

    limen run VENV/bin/python -m pytest tests/clients/triton_language.py
"""
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

RNG = np.random.default_rng(7)


def up(array):
    return torch.from_numpy(np.ascontiguousarray(array)).cuda()


def down(tensor):
    return tensor.cpu().numpy()


def empty(shape, dtype):
    return torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name), device="cuda")


@triton.jit
def binary(x, y, z, n, op: tl.constexpr, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    m = i < n
    a = tl.load(x + i, mask=m, other=1)
    b = tl.load(y + i, mask=m, other=1)
    if op == "add":
        r = a + b
    elif op == "mul":
        r = a * b
    elif op == "max":
        r = tl.maximum(a, b)
    elif op == "where":
        r = tl.where(a > b, a, b - a)
    elif op == "and":
        r = a & b
    elif op == "shift":
        r = a << (b & 7)
    tl.store(z + i, r, mask=m)


BINARY = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": np.maximum,
          "where": lambda a, b: np.where(a > b, a, b - a), "and": lambda a, b: a & b,
          "shift": lambda a, b: a << (b & 7)}


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("op", BINARY)
def test_binary(op, dtype):
    if dtype.startswith("float") and op in ("and", "shift"):
        return
    x, y = (RNG.integers(-9, 9, 1000).astype(dtype) for _ in range(2))
    z = empty(1000, dtype)
    binary[(8,)](up(x), up(y), z, 1000, op, 128)
    np.testing.assert_array_equal(down(z), BINARY[op](x, y).astype(dtype))


@triton.jit
def unary(x, z, op: tl.constexpr, block: tl.constexpr):
    i = tl.arange(0, block)
    a = tl.load(x + i)
    if op == "exp":
        r = tl.exp(a)
    elif op == "log":
        r = tl.log(a)
    elif op == "sin":
        r = tl.sin(a)
    elif op == "sqrt":
        r = tl.sqrt(a)
    elif op == "sigmoid":
        r = tl.sigmoid(a)
    elif op == "floor":
        r = tl.floor(a)
    tl.store(z + i, r)


@pytest.mark.parametrize("op", ["exp", "log", "sin", "sqrt", "sigmoid", "floor"])
def test_unary(op):
    x = RNG.uniform(0.1, 4, 256).astype("float32")
    z = empty(256, "float32")
    unary[(1,)](up(x), z, op, 256)
    want = 1 / (1 + np.exp(-x)) if op == "sigmoid" else getattr(np, op)(x)
    np.testing.assert_allclose(down(z), want, rtol=1e-5, atol=1e-6)


@triton.jit
def reduce(x, z, op: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, axis: tl.constexpr):
    i = tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :]
    a = tl.load(x + i)
    if op == "sum":
        r = tl.sum(a, axis)
    elif op == "max":
        r = tl.max(a, axis)
    elif op == "argmin":
        r = tl.argmin(a, axis)
    elif op == "xor":
        r = tl.xor_sum(a, axis)
    tl.store(z + tl.arange(0, rows if axis == 1 else columns), r)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", ["sum", "max", "argmin", "xor"])
@pytest.mark.parametrize("warps", [1, 4])
def test_reduce(op, axis, warps):
    x = RNG.permutation(32 * 64).reshape(32, 64).astype("int32")
    z = empty(32 if axis == 1 else 64, "int32")
    reduce[(1,)](up(x), z, op, 32, 64, axis, num_warps=warps)
    want = np.bitwise_xor.reduce(x, axis) if op == "xor" else getattr(np, op)(x, axis)
    np.testing.assert_array_equal(down(z), want)


@triton.jit
def scan(x, z, op: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, axis: tl.constexpr):
    i = tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :]
    a = tl.load(x + i)
    r = tl.cumsum(a, axis) if op == "cumsum" else tl.cumprod(a, axis)
    tl.store(z + i, r)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_scan(op, axis):
    x = RNG.integers(-2, 3, (16, 64)).astype("int32")
    z = empty((16, 64), "int32")
    scan[(1,)](up(x), z, op, 16, 64, axis)
    np.testing.assert_array_equal(down(z), getattr(np, op)(x, axis).astype("int32"))


@triton.jit
def product(x, y, z, m: tl.constexpr, n: tl.constexpr, k: tl.constexpr, precision: tl.constexpr):
    i, j, l = tl.arange(0, m), tl.arange(0, n), tl.arange(0, k)
    a = tl.load(x + i[:, None] * k + l[None, :])
    b = tl.load(y + l[:, None] * n + j[None, :])
    tl.store(z + i[:, None] * n + j[None, :], tl.dot(a, b, input_precision=precision))


@pytest.mark.parametrize("dtype,precision,error", [("float16", "tf32", 1e-2), ("float32", "tf32", 1e-2),
                                                   ("float32", "ieee", 1e-5), ("int8", "tf32", 0)])
@pytest.mark.parametrize("size", [(16, 16, 32), (64, 64, 64)])
def test_dot(dtype, precision, error, size):
    m, n, k = size
    integer = dtype == "int8"
    x, y = ((RNG.integers(-9, 9, s) if integer else RNG.uniform(-1, 1, s)).astype(dtype)
            for s in ((m, k), (k, n)))
    z = empty((m, n), "int32" if integer else "float32")
    product[(1,)](up(x), up(y), z, m, n, k, precision)
    wide = "int32" if integer else "float32"
    np.testing.assert_allclose(down(z), x.astype(wide) @ y.astype(wide), rtol=error, atol=error)


@triton.jit
def tally(x, z, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.atomic_add(z + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


def test_atomics():
    x = RNG.integers(0, 10, 1000).astype("int32")
    z = up(np.zeros(10, "int32"))
    tally[(8,)](up(x), z, 1000, 128)
    np.testing.assert_array_equal(down(z), np.bincount(x, minlength=10))


@triton.jit
def softmax(x, z, columns, block: tl.constexpr):
    i = tl.program_id(0) * columns + tl.arange(0, block)
    m = tl.arange(0, block) < columns
    a = tl.load(x + i, mask=m, other=-float("inf"))
    e = tl.exp(a - tl.max(a, 0))
    tl.store(z + i, e / tl.sum(e, 0), mask=m)


@pytest.mark.parametrize("columns", [100, 781])
def test_softmax(columns):
    x = RNG.normal(size=(12, columns)).astype("float32")
    z = empty((12, columns), "float32")
    softmax[(12,)](up(x), z, columns, triton.next_power_of_2(columns))
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(down(z), e / e.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def loop(x, y, z, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    j = tl.program_id(1) * bn + tl.arange(0, bn)
    total = tl.zeros((bm, bn), tl.float32)
    for at in range(0, k, bk):
        l = at + tl.arange(0, bk)
        a = tl.load(x + i[:, None] * k + l[None, :], mask=(i[:, None] < m) & (l[None, :] < k), other=0.)
        b = tl.load(y + l[:, None] * n + j[None, :], mask=(l[:, None] < k) & (j[None, :] < n), other=0.)
        total += tl.dot(a, b)
    tl.store(z + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


@pytest.mark.parametrize("stages", [1, 3])
def test_matmul(stages):
    m, n, k = 90, 70, 130
    x, y = (RNG.uniform(-1, 1, s).astype("float16") for s in ((m, k), (k, n)))
    z = empty((m, n), "float32")
    loop[(3, 3)](up(x), up(y), z, m, n, k, 32, 32, 32, num_stages=stages)
    np.testing.assert_allclose(down(z), x.astype("float32") @ y.astype("float32"), atol=2e-2)


@triton.jit
def shapes(x, z, n: tl.constexpr):
    i = tl.arange(0, n)
    a = tl.load(x + i)
    b = tl.trans(tl.reshape(a, (n // 4, 4)))
    tl.store(z + tl.arange(0, 4)[:, None] * (n // 4) + tl.arange(0, n // 4)[None, :], b)


def test_reshape_and_transpose():
    x = RNG.integers(0, 99, 256).astype("int32")
    z = empty((4, 64), "int32")
    shapes[(1,)](up(x), z, 256)
    np.testing.assert_array_equal(down(z), x.reshape(64, 4).T)


@triton.jit
def ordered(x, z, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(z + i, tl.sort(tl.load(x + i)))


def test_sort():
    x = RNG.permutation(256).astype("int32")
    z = empty(256, "int32")
    ordered[(1,)](up(x), z, 256)
    np.testing.assert_array_equal(down(z), np.sort(x))
