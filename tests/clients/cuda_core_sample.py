"""cuda.core, a sample of our own of what its examples do: compile to machine code, PTX and LTO-IR,
link, launch, allocate, copy, time.

    limen run VENV/bin/python -m pytest tests/clients/cuda_core_sample.py
"""
import ctypes

import numpy as np
import pytest
from cuda.core import Device, EventOptions, LaunchConfig, Linker, LinkerOptions, Program, \
    ProgramOptions, launch

SAXPY = """
template <typename T>
__global__ void saxpy(T a, const T* x, const T* y, T* out, size_t n) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += step)
    out[i] = a * x[i] + y[i];
}
"""
CALLER = """
extern "C" __device__ float shade(float);
extern "C" __global__ void paint(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = shade(i);
}
"""
CALLEE = 'extern "C" __device__ float shade(float x) { return 2 * x + 1; }'


@pytest.fixture
def device():
    one = Device()
    one.set_current()
    return one


def arch(device):
    return "".join(map(str, device.compute_capability))


def buffer(device, stream, array):
    """Device memory with a copy of the array, through pinned host memory."""
    memory = device.memory_resource.allocate(array.nbytes, stream=stream)
    from cuda.core import LegacyPinnedMemoryResource
    host = LegacyPinnedMemoryResource().allocate(array.nbytes)
    view = np.frombuffer((ctypes.c_char * array.nbytes).from_address(int(host.handle)), array.dtype)
    view[:] = array.ravel()
    memory.copy_from(host, stream=stream)
    return memory, host, view


@pytest.mark.parametrize("target", ["cubin", "ptx"])
@pytest.mark.parametrize("dtype", ["float", "double"])
def test_a_template_compiled_and_launched(device, target, dtype):
    stream = device.create_stream()
    options = ProgramOptions(std="c++17", arch=f"sm_{arch(device)}")
    name = f"saxpy<{dtype}>"
    code = Program(SAXPY, "c++", options).compile(target, name_expressions=(name,))
    kernel = code.get_kernel(name)
    n, type_ = 100_000, {"float": np.float32, "double": np.float64}[dtype]
    x, y = (np.random.default_rng(i).random(n).astype(type_) for i in (1, 2))
    (a, _, _), (b, _, _) = (buffer(device, stream, v) for v in (x, y))
    out, host, view = buffer(device, stream, np.zeros(n, type_))
    launch(stream, LaunchConfig(grid=32, block=256), kernel, type_(10), a, b, out, np.uint64(n))
    out.copy_to(host, stream=stream)
    stream.sync()
    np.testing.assert_allclose(view, type_(10) * x + y, rtol=1e-6)


@pytest.mark.parametrize("kinds", [("ptx", "ptx"), ("ltoir", "ltoir"), ("cubin", "cubin")])
def test_two_programs_linked(device, kinds):
    parts = []
    for source, kind in zip((CALLER, CALLEE), kinds):
        options = ProgramOptions(arch=f"sm_{arch(device)}", relocatable_device_code=True,
                                 link_time_optimization=kind == "ltoir" or None)
        parts.append(Program(source, "c++", options).compile(kind))
    lto = kinds[0] == "ltoir"
    linker = Linker(*parts, options=LinkerOptions(arch=f"sm_{arch(device)}",
                                                  link_time_optimization=lto or None))
    kernel = linker.link("cubin").get_kernel("paint")
    stream = device.create_stream()
    out, host, view = buffer(device, stream, np.zeros(500, np.float32))
    launch(stream, LaunchConfig(grid=4, block=128), kernel, out, np.int32(500))
    out.copy_to(host, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(view, 2 * np.arange(500, dtype=np.float32) + 1)


def test_events_time_a_stream(device):
    stream = device.create_stream()
    options = EventOptions(timing_enabled=True)
    first = stream.record(options=options)
    last = stream.record(options=options)
    last.sync()
    assert last - first >= 0


def test_kernel_attributes_and_occupancy(device):
    options = ProgramOptions(arch=f"sm_{arch(device)}")
    code = Program(SAXPY, "c++", options).compile("cubin", name_expressions=("saxpy<float>",))
    kernel = code.get_kernel("saxpy<float>")
    assert kernel.attributes.max_threads_per_block == 1024
    assert kernel.num_arguments == 5
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1


def test_a_wrong_program_has_its_log(device):
    with pytest.raises(Exception, match="(?s)identifier"):
        Program("__global__ void k() { nothing(); }", "c++",
                ProgramOptions(arch=f"sm_{arch(device)}")).compile("cubin")
