// Calls, recursion, indirect calls, switches, printf, assert, malloc, inline assembly; never run.
#include <cassert>
#include <cstdio>
__device__ __noinline__ int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
__device__ __noinline__ float4 aggregate(float4 a, double b, char c) {
  return make_float4(a.x + (float)b, a.y, a.z, a.w + c);
}
struct Base {
  __device__ virtual int value(int x) { return x; }
  __device__ virtual ~Base() {}
};
struct Derived : Base {
  int k;
  __device__ Derived(int n) : k(n) {}
  __device__ int value(int x) override { return x * k; }
};
typedef float (*Function)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__global__ void __launch_bounds__(256, 2) calls(int* out, int n, Function f, Function g) {
  switch (n) {
    case 0: out[0] = 1; break;
    case 1: out[1] = recursive(n); break;
    case 2: out[2] = 7; break;
    case 3: out[3] = n * 5; break;
    case 4: out[4] = n + 3; break;
    case 5: out[5] = n ^ 9; break;
    case 6: out[6] = n << 2; break;
    default: out[7] = 3;
  }
  float4 q = aggregate(make_float4(1, 2, 3, n), n, (char)n);
  Function choice = n & 1 ? add : n & 2 ? sub : f;
  out[8] = (int)(choice(q.x, q.w) + g(q.y, q.z));
  Base* object = n > 5 ? new Derived(n) : new Base;
  out[9] = object->value(n);
  delete object;
  printf("value %d of %f %s\n", n, q.x, "text");
  assert(n < 100);
  int* heap = (int*)malloc(64);
  if (heap) heap[n & 15] = n;
  free(heap);
  if (n == 77) __trap();
  if (n == 78) asm volatile("exit;");
}
__global__ void assembly(unsigned* p, unsigned long long* q, float* f) {
  unsigned r;
  asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 t, %%u<3>;\n\tsetp.ne.u32 p, %1, 0;\n\t"
               "LOOP:\n\t@p bra DONE;\n\tmov.u32 t, %%laneid;\n\tadd.u32 %0, t, %1;\n\tDONE:\n\t}"
               : "=r"(r) : "r"(p[0]) : "memory");
  asm volatile("{ .reg .pred p; LOOP: setp.eq.u32 p, %0, 5; @!p bra.uni DONE; bra LOOP; DONE: }" ::"r"(r));
  unsigned lo, hi;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(q[0]));
  asm volatile("prefetch.global.L2 [%0+128];" ::"l"(p));
  asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(lo), "r"(hi));
  asm("add.cc.u32 %0, %1, %2;\n\taddc.u32 %1, %2, 0;" : "=r"(lo), "+r"(hi) : "r"(r));
  unsigned long long clock;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(clock));
  p[1] = lo + hi + (unsigned)clock + clock64();
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(f), "f"(1.0f));
  __nanosleep(100);
}
