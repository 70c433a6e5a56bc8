"""Run-time compilers under `limen run`: who asks for machine code gets PTX, whatever way it takes to
the library, and NVIDIA's own is found behind the front. docs/design/runtime_compilation.md.
"""
import argparse
import ctypes
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ARGS = None
HERE = Path(__file__).resolve().parent
PTX_HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
KERNEL = PTX_HEAD + """.visible .entry store(.param .u64 to) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .shared .align 4 .b8 room[64];
  ld.param.u64 %rd1, [to]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1; ret; }
"""
CALLER = PTX_HEAD + """.extern .func (.param .b32 r) f(.param .b32 a);
.visible .entry k(.param .u64 to) { .reg .b32 %r<3>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [to];
  { .param .b32 a; .param .b32 r; mov.b32 %r1, 5; st.param.b32 [a], %r1; call.uni (r), f, (a);
    ld.param.b32 %r2, [r]; } st.global.b32 [%rd1], %r2; ret; }
"""
CALLEE = PTX_HEAD + """.visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<2>;
  ld.param.b32 %r1, [a]; add.s32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
"""
# Numba's cooperative groups: every block stores its number + 1, then adds up what all have stored.
GRID = PTX_HEAD.replace("8.0", "8.3") + """.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 s);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 t, .param .b64 g, .param .b64 h);
.visible .entry sum(.param .u64 to) {
  .reg .pred %p; .reg .b32 %a, %b, %i, %n, %s, %v; .reg .b64 %t, %x, %h, %l; .local .b32 rank[2];
  ld.param.u64 %t, [to]; mov.u32 %b, %ctaid.x; mov.u32 %n, %nctaid.x; mul.wide.u32 %x, %b, 4;
  add.u64 %x, %t, %x; add.u32 %a, %b, 1; st.global.u32 [%x], %a;
  { .param .b32 s; .param .b64 r; st.param.b32 [s], 1;
    call.uni (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [r]; }
  { .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %h; st.param.b32 [f], 0;
    call.uni (r), cudaCGSynchronize, (h, f); ld.param.b32 %v, [r]; }
  mov.u32 %s, 0; mov.u32 %i, 0;
more: mul.wide.u32 %l, %i, 4; add.u64 %l, %t, %l; ld.volatile.global.u32 %a, [%l];
  add.u32 %s, %s, %a; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra more;
  { .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %h; st.param.b32 [f], 0;
    call.uni (r), cudaCGSynchronize, (h, f); ld.param.b32 %a, [r]; }
  or.b32 %v, %v, %a;
  mov.u64 %l, rank; cvta.local.u64 %l, %l;
  { .param .b64 t; .param .b64 g; .param .b64 h; .param .b32 r; st.param.b64 [t], %l;
    st.param.b64 [g], 0; st.param.b64 [h], %h; call.uni (r), cudaCGGetRank, (t, g, h);
    ld.param.b32 %a, [r]; }
  or.b32 %v, %v, %a; ld.u32 %a, [%l];
  // A thread's word: the sum, or -1 if a call failed or its rank is not its place.
  mov.u32 %i, %ntid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %b, %i, %n;
  sub.u32 %a, %a, %i; or.b32 %v, %v, %a; setp.ne.u32 %p, %v, 0; @%p mov.u32 %s, -1;
  mul.wide.u32 %l, %i, 4; add.u64 %l, %t, %l; st.global.u32 [%l], %s; ret; }
"""
# Loads the image in argv[2] with the driver, launches kernel argv[1] and prints the word it stores.
LAUNCH = r"""
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def ok(code):
    assert code == 0, code
device, context, module, kernel = ctypes.c_int(), *(ctypes.c_void_p() for _ in range(3))
ok(cuda.cuInit(0)); ok(cuda.cuDeviceGet(ctypes.byref(device), 0))
ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)); ok(cuda.cuCtxSetCurrent(context))
image = open(sys.argv[2], "rb").read()
ok(cuda.cuModuleLoadData(ctypes.byref(module), image))
ok(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, sys.argv[1].encode()))
to = ctypes.c_uint64(); ok(cuda.cuMemAlloc_v2(ctypes.byref(to), ctypes.c_size_t(4)))
words = (ctypes.c_void_p * 1)(ctypes.addressof(to))
ok(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, words, None))
out = ctypes.c_int(); ok(cuda.cuMemcpyDtoH_v2(ctypes.byref(out), to, ctypes.c_size_t(4)))
print(out.value)
"""
LAUNCH_GRID = LAUNCH[:LAUNCH.index("to = ")] + r"""
blocks, threads = 6, 48
to = ctypes.c_uint64(); ok(cuda.cuMemAlloc_v2(ctypes.byref(to), ctypes.c_size_t(4 * 288)))
words = (ctypes.c_void_p * 1)(ctypes.addressof(to))
out = (ctypes.c_int * 288)()
for launch in (cuda.cuLaunchCooperativeKernel, cuda.cuLaunchKernel):
    extra = [] if launch is cuda.cuLaunchCooperativeKernel else [None]
    ok(launch(kernel, blocks, 1, 1, threads, 1, 1, 0, None, words, *extra))
    ok(cuda.cuMemcpyDtoH_v2(out, to, ctypes.c_size_t(4 * 288)))
    print(sorted(set(out[blocks:])))
"""


# A library of NVIDIA's, by its name: asks what the device is and loads a fat binary of its own.
CLOSED = r"""
#include <dlfcn.h>
static const unsigned char image[] __attribute__((aligned(8))) = { %s };
static void* get(const char* name) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }
int major(void) {
  int value = 0;
  ((int (*)(unsigned))get("cuInit"))(0);
  ((int (*)(int*, int, int))get("cuDeviceGetAttribute"))(&value, 75, 0);
  return value;
}
int load(void) {
  void *context, *module;
  ((int (*)(void**, int))get("cuDevicePrimaryCtxRetain"))(&context, 0);
  ((int (*)(void*))get("cuCtxSetCurrent"))(context);
  return ((int (*)(void**, const void*))get("cuModuleLoadData"))(&module, image);
}
"""


def fat_binary(text, sm):
    """One PTX entry, uncompressed, as nvcc writes it (tests/conformance/fat_binary.h)."""
    payload = text.encode() + b"\0"
    payload += b"\0" * (-len(payload) % 8)
    entry = bytearray(80)
    struct.pack_into("<HHIQ", entry, 0, 1, 0x0101, 80, len(payload))
    struct.pack_into("<I", entry, 20, 64)
    struct.pack_into("<HHIIIQ", entry, 24, 0, 9, sm, 0, 0, 0x11)
    struct.pack_into("<I", entry, 64, 72)
    body = bytes(entry) + payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


class Fronts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="limen-fronts-")
        root = cls.root = Path(cls.folder.name)
        for name in ("wheel", "path", "rpath"):
            (root / name).mkdir()
        for who, name in ((1, "wheel"), (2, "path"), (3, "rpath")):
            cls.compile(HERE / "stand_in.c", root / name / "libnvrtc.so.13", "-shared", "-fPIC",
                        f"-DWHO={who}", "-Wl,-soname,libnvrtc.so.13")
        cls.client = cls.compile(HERE / "client.c", root / "client", "-ldl")
        link = [f"-L{root}/rpath", "-l:libnvrtc.so.13", "-DLINKED", f"-Wl,-rpath,{root}/rpath"]
        cls.rpath = cls.compile(HERE / "client.c", root / "by_rpath", *link,
                                "-Wl,--disable-new-dtags")
        cls.runpath = cls.compile(HERE / "client.c", root / "by_runpath", *link,
                                  "-Wl,--enable-new-dtags")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def compile(cls, source, out, *flags):
        subprocess.run([ARGS.cc, "-w", str(source), "-o", str(out), *flags], check=True)
        return out

    def run_limen(self, *words, env=None, code=0):
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("LIMEN_", "LD_", "TRITON_"))}
        environment.update({"LIMEN_CACHE_DIR": str(self.root / "cache"), **(env or {})})
        done = subprocess.run([str(ARGS.limen), "run", *map(str, words)], text=True,
                              env=environment, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def expect_ptx(self, done, who):
        """Machine code was asked for: `who` was asked for PTX, and PTX we take came out."""
        self.assertIn(f"version 0 {who}.77\n", done.stdout)
        self.assertIn("raw 42\n", done.stdout)
        self.assertIn("source -arch=compute_90a -DX>", done.stdout)
        self.assertRegex(done.stdout, r"cubin \d\d+ <// made\n\.version 9\.0\n")
        self.assertIn("ptx", done.stdout)
        self.assertIn(".version 9.4", done.stdout.split("cubin")[0])  # PTX proper stays as it is
        self.assertIn("destroyed 1", done.stdout)

    # Ways to the library.

    def test_an_absolute_path_as_a_wheel_uses_it(self):
        done = self.run_limen("--route", "audit", self.client, self.root / "wheel/libnvrtc.so.13",
                              "-arch=sm_90a", "-DX")
        self.expect_ptx(done, 1)

    def test_a_bare_name_with_the_library_on_the_users_path(self):
        for route in ("path", "audit"):
            done = self.run_limen("--route", route, self.client, "libnvrtc.so.13", "-arch=sm_90a",
                                  "-DX", env={"LD_LIBRARY_PATH": f"{self.root}/path"})
            self.expect_ptx(done, 2)

    def test_a_linked_program_with_its_own_folder(self):
        # DT_RPATH comes before LD_LIBRARY_PATH, so the automatic route must be the auditor's.
        self.expect_ptx(self.run_limen(self.rpath, "-", "-arch=sm_90a", "-DX"), 3)
        self.expect_ptx(self.run_limen(self.runpath, "-", "-arch=sm_90a", "-DX"), 3)

    def test_an_interpreter_is_led_without_being_told(self):
        code = ("import ctypes, sys; l = ctypes.CDLL(sys.argv[1]); a, b = ctypes.c_int(), "
                "ctypes.c_int(); l.nvrtcVersion(ctypes.byref(a), ctypes.byref(b)); "
                "maps = open('/proc/self/maps').read(); "
                "print(a.value, 'limen' if sys.argv[2] in maps else 'bare')")
        done = self.run_limen(sys.executable, "-c", code, self.root / "wheel/libnvrtc.so.13",
                              ARGS.lib)
        self.assertEqual(done.stdout, "1 limen\n")

    def test_a_path_where_nothing_is_fails_as_without_limen(self):
        done = self.run_limen("--route", "audit", self.client, self.root / "none/libnvrtc.so.13",
                              code=9)
        self.assertIn("cannot open shared object file", done.stdout)

    def test_a_program_that_asks_for_ptx_sees_the_library_as_it_is(self):
        done = self.run_limen("--route", "audit", self.client, self.root / "wheel/libnvrtc.so.13",
                              "-arch=compute_80")
        self.assertIn("cubin 0\n", done.stdout)
        self.assertIn("source -arch=compute_80>", done.stdout)

    def test_the_variable_names_the_library(self):
        done = self.run_limen(self.client, "libnvrtc.so.13", "-arch=sm_90a", "-DX",
                              env={"LIMEN_NVRTC": str(self.root / "wheel/libnvrtc.so.13")})
        self.expect_ptx(done, 1)

    def test_without_nvidias_library_the_error_says_what_to_install(self):
        done = self.run_limen(self.client, "libnvrtc.so.13", code=11,
                              env={"LIMEN_NVRTC": "/nowhere/libnvrtc.so.13"})
        for text in (done.stdout, done.stderr):
            self.assertRegex(text, "NVIDIA's libnvrtc.so.13 was not found: install .*nvidia-cuda-nvrtc")

    # nvJitLink.

    def jit_link(self, inputs, options=(b"-arch=sm_90",), library="libnvJitLink.so.13"):
        link = ctypes.CDLL(str(ARGS.lib / library))
        handle = ctypes.c_void_p()
        words = (ctypes.c_char_p * len(options))(*options)
        code = link.nvJitLinkCreate(ctypes.byref(handle), len(options), words)
        self.assertEqual(code, 0)
        for kind, text in inputs:
            data = text.encode()
            code = link.nvJitLinkAddData(handle, kind, data, ctypes.c_size_t(len(data)), b"in")
            self.assertEqual(code, 0)
        code = link.nvJitLinkComplete(handle)
        size = ctypes.c_size_t()
        image = None
        if code == 0:
            self.assertEqual(link.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)), 0)
            image = ctypes.create_string_buffer(size.value)
            self.assertEqual(link.nvJitLinkGetLinkedCubin(handle, image), 0)
            image = image.raw
        link.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        link.nvJitLinkGetErrorLog(handle, log)
        self.assertEqual(link.nvJitLinkDestroy(ctypes.byref(handle)), 0)
        self.assertFalse(handle.value)
        return code, image, log.value.decode()

    def launch(self, name, image, code=LAUNCH, *options):
        path = self.root / "image"
        path.write_bytes(image)
        return self.run_limen(*options, sys.executable, "-c", code, name, path).stdout

    def test_linked_ptx_runs(self):
        for library in ("libnvJitLink.so.13", "libnvJitLink.so.12"):
            code, image, _ = self.jit_link([(2, CALLER), (2, CALLEE)], library=library)
            self.assertEqual(code, 0)
            self.assertEqual(self.launch("k", image), "6\n")
        code, image, log = self.jit_link([(2, CALLER)])
        self.assertEqual(code, 6)
        self.assertIn("Undefined reference to 'f'", log)

    def test_the_grid_functions_of_cudadevrt_are_there(self):
        code, image, log = self.jit_link([(2, GRID)], options=(b"-arch=sm_120",))
        self.assertEqual(code, 0, log)
        for strategy in ("auto", "fiber", "lane"):
            out = self.launch("sum", image, LAUNCH_GRID, "--strategy", strategy)
            # Without a cooperative launch there is no grid to wait for: an error, and no hang.
            self.assertEqual(out, "[21]\n[-1]\n")

    def test_exports_are_nvidias(self):
        for library, name in (("libnvJitLink.so.13", "__nvJitLinkCreate_13_0"),
                              ("libnvJitLink.so.12", "__nvJitLinkComplete_12_9"),
                              ("libnvrtc.so.12", "nvrtcGetNVVM"), ("libnvrtc.so.13", "nvrtcGetLTOIR")):
            self.assertTrue(getattr(ctypes.CDLL(str(ARGS.lib / library)), name))
        self.assertFalse(hasattr(ctypes.CDLL(str(ARGS.lib / "libnvrtc.so.13")), "nvrtcGetNVVM"))

    # Closed libraries.

    def test_closed_libraries_are_off_unless_asked_for(self):
        image = fat_binary(KERNEL.replace("8.0", "9.0").replace("sm_75", "sm_121"), 121)
        source = self.root / "closed.c"
        source.write_text(CLOSED % ", ".join(map(str, image)))
        answers = {}
        for name in ("libcurand.so.10", "libmine.so"):
            library = self.compile(source, self.root / name, "-shared", "-fPIC")
            code = (f"import ctypes; l = ctypes.CDLL('{library}'); print(l.major(), l.load())")
            for setting in ("off", "13.0"):
                done = self.run_limen(sys.executable, "-c", code,
                                      env={"LIMEN_LIBRARY_CC": setting})
                answers[name, setting] = done.stdout.strip()
                if (name, setting) == ("libcurand.so.10", "off"):
                    self.assertIn("set LIMEN_LIBRARY_CC=13.0", done.stderr)
        self.assertEqual(answers, {("libcurand.so.10", "off"): "12 209",
                                   ("libcurand.so.10", "13.0"): "13 0",
                                   ("libmine.so", "off"): "12 209",
                                   ("libmine.so", "13.0"): "12 209"})

    # ptxas.

    def ptxas(self, *words, code=0):
        done = subprocess.run([str(ARGS.lib / "limen-fronts/ptxas"), *map(str, words)],
                              text=True, capture_output=True, timeout=60, cwd=self.root)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_ptxas_writes_what_the_driver_loads(self):
        (self.root / "a.ptx").write_text(KERNEL)
        done = self.ptxas("-lineinfo", "-v", "--gpu-name=sm_90a", "a.ptx", "-o", "a.cubin")
        self.assertEqual(self.launch("store", (self.root / "a.cubin").read_bytes()), "7\n")
        self.assertRegex(done.stderr, r"Used \d+ registers, used 0 barriers, 64 bytes smem")
        self.assertIn("Compiling entry function 'store' for 'sm_90a'", done.stderr)
        self.assertIn("0 bytes spill stores, 0 bytes spill loads", done.stderr)

    def test_ptxas_says_its_version_as_callers_read_it(self):
        out = self.ptxas("--version").stdout
        self.assertTrue(re.search(r"release (\d+\.\d+)", out))  # Triton
        self.assertTrue(re.search(r"\bV(\d+)\.(\d+)\.(\d+)", out))  # XLA

    def test_ptxas_reports_errors_as_callers_read_them(self):
        (self.root / "b.ptx").write_text(KERNEL.replace("mov.u32", "movv.u32"))
        done = self.ptxas("-arch=sm_90", "b.ptx", "-o", "b.cubin", code=255)
        self.assertRegex(done.stderr, r"ptxas b\.ptx, line 6; error   : .*movv")
        self.assertIn("ptxas fatal   : Ptx assembly aborted due to errors", done.stderr)
        self.assertFalse((self.root / "b.cubin").exists())
        (self.root / "c.ptx").write_text(CALLER)
        done = self.ptxas("-arch=sm_90", "c.ptx", code=255)
        self.assertIn("ptxas fatal   : Unresolved extern function 'f'", done.stderr)
        self.ptxas("-arch=sm_90", "-c", "c.ptx")
        (self.root / "a.ptx").write_text(KERNEL.replace("sm_75", "sm_90"))
        done = self.ptxas("-arch=sm_80", "a.ptx", code=255)
        self.assertIn("SM version specified by .target is higher", done.stderr)
        self.assertIn("could not be opened", self.ptxas("none.ptx", code=255).stderr)

    def test_triton_finds_it(self):
        done = self.run_limen("sh", "-c", "echo $TRITON_PTXAS_PATH")
        self.assertTrue(os.access(done.stdout.strip(), os.X_OK), done.stdout)
        done = self.run_limen("sh", "-c", "echo $TRITON_PTXAS_PATH",
                              env={"TRITON_PTXAS_PATH": "/mine"})
        self.assertEqual(done.stdout, "/mine\n")

    # nvcc.

    def nvcc(self, *words, code=0, **environment):
        done = subprocess.run([str(ARGS.lib / "limen-fronts/nvcc"), *map(str, words)],
                              text=True, capture_output=True, timeout=60, cwd=self.root,
                              env=os.environ | environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def stand_in_nvcc(self, text):
        """Says how it was called, and writes `text` for each .cu file, as nvcc names its files."""
        (self.root / "text.ptx").write_text(text)
        folder = self.root / "toolkit"
        folder.mkdir(exist_ok=True)
        (folder / "nvcc").write_text(f"""#!/bin/sh
echo called: "$@"
folder=.
for word; do case "$before" in -o) out=$word;; -odir) folder=$word;; esac; before=$word; done
for word; do case "$word" in
*.cu) case " $* " in *ptx*) cp {self.root}/text.ptx "${{out:-$folder/${{word%.cu}}.ptx}}";; esac;;
--fail) exit 3;; esac; done
""")
        (folder / "nvcc").chmod(0o755)
        return {"PATH": f"{ARGS.lib}/limen-fronts:{folder}:{os.environ['PATH']}"}

    def test_nvcc_asked_for_machine_code_writes_what_the_driver_loads(self):
        path = self.stand_in_nvcc(KERNEL)
        (self.root / "out").mkdir(exist_ok=True)
        done = self.nvcc("--cubin", "-arch=sm_75", "-o", "d.cubin", "-Xptxas", "-v", "d.cu", **path)
        self.assertRegex(done.stdout, r"called: --ptx -arch=sm_75 d\.cu -o /\S+\.ptx\n")
        self.assertIn("Compiling entry function 'store' for 'sm_75'", done.stderr)
        self.nvcc("-cubin", "-odir", "out", "e.cu", "f.cu", **path)
        for name in ("d.cubin", "out/e.cubin", "out/f.cubin"):
            self.assertEqual(self.launch("store", (self.root / name).read_bytes()), "7\n", name)

    def test_nvcc_is_nvidias_for_everything_else(self):
        path = self.stand_in_nvcc(KERNEL)
        self.assertEqual(self.nvcc("-c", "g.cu", **path).stdout, "called: -c g.cu\n")
        self.assertEqual(self.nvcc("--cubin", "-dlink", "g.o", "-o", "g", **path).stdout,
                         "called: --cubin -dlink g.o -o g\n")
        self.nvcc("--cubin", "g.cu", "--fail", code=3, **path)
        self.assertFalse((self.root / "g.cubin").exists())
        elsewhere = {"LIMEN_NVCC": str(self.root / "toolkit/nvcc"), "PATH": "/usr/bin:/bin"}
        self.assertEqual(self.nvcc("-c", "g.cu", **elsewhere).stdout, "called: -c g.cu\n")

    def test_nvcc_reports_what_the_driver_would_refuse(self):
        path = self.stand_in_nvcc(KERNEL.replace("mov.u32", "movv.u32"))
        done = self.nvcc("--cubin", "h.cu", code=255, **path)
        self.assertRegex(done.stderr, r"h\.ptx, line 6; error   : .*movv")
        self.assertFalse((self.root / "h.cubin").exists())

    def test_a_file_compiled_by_nvidias_nvcc_runs(self):
        if not glob.glob("/usr/local/cuda*/bin/nvcc"):
            self.skipTest("NVIDIA's nvcc is not installed")
        (self.root / "i.cu").write_text('extern "C" __global__ void k(int* to) { *to = 42; }')
        self.nvcc("--cubin", "-gencode=arch=compute_120,code=sm_120", "i.cu")
        self.assertEqual(self.launch("k", (self.root / "i.cubin").read_bytes()), "42\n")

    # NVIDIA's own, where it is installed.

    def test_a_kernel_compiled_for_the_devices_own_architecture_runs(self):
        if not glob.glob("/usr/local/cuda*/lib64/libnvrtc.so.13"):
            self.skipTest("NVIDIA's libnvrtc.so.13 is not installed")
        code = r"""
import ctypes
n = ctypes.CDLL("libnvrtc.so.13")
p, size = ctypes.c_void_p(), ctypes.c_size_t()
source = b'extern "C" __global__ void store(int* to) { *to = 3 * 14; }'
assert n.nvrtcCreateProgram(ctypes.byref(p), source, b"a.cu", 0, None, None) == 0
words = (ctypes.c_char_p * 1)(b"-arch=sm_120")
assert n.nvrtcCompileProgram(p, 1, words) == 0
assert n.nvrtcGetCUBINSize(p, ctypes.byref(size)) == 0
image = ctypes.create_string_buffer(size.value)
assert n.nvrtcGetCUBIN(p, image) == 0
open("IMAGE", "wb").write(image.raw)
""".replace("IMAGE", str(self.root / "compiled"))
        self.run_limen(sys.executable, "-c", code)
        self.assertEqual(self.launch("store", (self.root / "compiled").read_bytes()), "42\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limen", type=Path, required=True)
    parser.add_argument("--lib", type=Path, required=True)
    parser.add_argument("--cc", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
