// Integer, float, double and conversion code for the parser's acceptance test; never run.
#include <cstdint>
template <typename T>
__global__ void integers(T* out, const T* in, T k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T a = in[i], b = in[i + 1] + k;
  out[i] = (a * b + a / (b | 1)) ^ (a % (b | 1)) ^ (a << 3) ^ (b >> 2) ^ (a & ~b) ^ (a > b ? a : b);
}
template __global__ void integers<int>(int*, const int*, int, int);
template __global__ void integers<unsigned>(unsigned*, const unsigned*, unsigned, int);
template __global__ void integers<long long>(long long*, const long long*, long long, int);
template __global__ void integers<unsigned long long>(unsigned long long*, const unsigned long long*,
                                                      unsigned long long, int);
template __global__ void integers<short>(short*, const short*, short, int);
template __global__ void integers<unsigned char>(unsigned char*, const unsigned char*, unsigned char,
                                                 int);
template <typename T>
__global__ void floats(T* out, const T* in, T k, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    T a = in[i];
    T s = sin(a) + cos(a) * exp(k) + log(a + 1) - sqrt(a) / (a + k) + pow(a, k) + fmod(a, k);
    s += floor(a) + ceil(k) + rint(a) + trunc(a) + fabs(a) + fmin(a, k) + fmax(a, k) + erf(a);
    s += copysign(a, k) + tanh(a) + atan2(a, k) + cbrt(a) + rsqrt(a) + lgamma(a);
    out[i] = s + (T)(int)a + (T)(unsigned long long)k + (T)(signed char)a;
  }
}
template __global__ void floats<float>(float*, const float*, float, int);
template __global__ void floats<double>(double*, const double*, double, int);
__global__ void intrinsics(unsigned* o, unsigned a, unsigned b, float x, float y, double d) {
  unsigned r = __popc(a) + __clz(b) + __ffs(a) + __brev(b) + __byte_perm(a, b, 0x1234);
  r += __umulhi(a, b) + __mulhi((int)a, (int)b) + __funnelshift_l(a, b, 7) + __funnelshift_rc(a, b, 9);
  r += __sad((int)a, (int)b, 3u) + __vabsdiffu4(a, b) + __vaddus2(a, b) + __dp4a(a, b, 7u);
  r += __popcll(((unsigned long long)a << 32) | b) + __clzll(a) + __brevll(b) + __umul64hi(a, b);
  r += __float_as_uint(__fmaf_rz(x, y, x)) + __float2int_rd(x) + __double2uint_rz(d);
  r += __float_as_uint(__fdividef(x, y) + __expf(x) + __sinf(y) + __log2f(x) + __saturatef(y));
  r += __float_as_uint(__frcp_rn(x) + __fsqrt_ru(y) + __fadd_rd(x, y)) + __double2hiint(d);
  r += __double_as_longlong(__dmul_ru(d, d) + __drcp_rn(d) + __ddiv_rz(d, d));
  *o = r;
}
__global__ void wide(unsigned __int128* p) { p[2] = p[0] * p[1] + (p[0] >> 17); }
