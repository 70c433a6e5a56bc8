// SHA-256 (FIPS 180-4) of 2^15 independent messages of 256 bytes, one a thread: 32-bit rotations
// and additions, five blocks a message with its padding. Round constants in constant memory.
#include "bench.h"

constexpr int messages = 1 << 15, words = 64;

static std::vector<unsigned> texts() {
  bench::Random random(24);
  std::vector<unsigned> out(size_t{messages} * words);
  for (unsigned& word : out) word = random.bits();
  return out;
}

// The first 32 bits of the fractional parts of a root of the first primes (FIPS 180-4, 4.2.2 and
// 5.3.3).
static std::vector<unsigned> prime_roots(int count, int degree) {
  std::vector<unsigned> out;
  for (int n = 2; static_cast<int>(out.size()) < count; ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    long double root = degree == 2 ? sqrtl(n) : cbrtl(n);
    if (prime) out.push_back(static_cast<unsigned>((root - floorl(root)) * 4294967296.0L));
  }
  return out;
}

// One message; `SWAP` turns a word's bytes round.
#define ROTATE(x, by) ((x) >> (by) | (x) << (32 - (by)))
#define SHA256_BODY(SWAP, UNROLL)                                                                 \
  unsigned state[8];                                                                              \
  for (int i = 0; i < 8; ++i) state[i] = start[i];                                                \
  for (int part = 0; part < 5; ++part) {                                                          \
    unsigned w[16];                                                                               \
    for (int i = 0; i < 16; ++i) w[i] = part < 4 ? SWAP(text[16 * part + i]) : 0;                 \
    if (part == 4) w[0] = 0x80000000u, w[15] = 256 * 8;                                           \
    unsigned a = state[0], b = state[1], c = state[2], d = state[3];                              \
    unsigned e = state[4], f = state[5], g = state[6], h = state[7];                              \
    for (int base = 0; base < 64; base += 16) {                                                   \
      UNROLL for (int i = 0; i < 16; ++i) {                                                       \
        if (base > 0) {                                                                           \
          unsigned s0 = w[(i + 1) & 15], s1 = w[(i + 14) & 15];                                   \
          w[i] += (ROTATE(s0, 7) ^ ROTATE(s0, 18) ^ s0 >> 3) + w[(i + 9) & 15] +                  \
                  (ROTATE(s1, 17) ^ ROTATE(s1, 19) ^ s1 >> 10);                                   \
        }                                                                                         \
        unsigned t1 = h + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((e & f) ^ (~e & g)) + \
                      constants[base + i] + w[i];                                                 \
        unsigned t2 =                                                                             \
            (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));       \
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;                        \
      }                                                                                           \
    }                                                                                             \
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;                                   \
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;                                   \
  }                                                                                               \
  for (int i = 0; i < 8; ++i) digest[i] = state[i];

#if defined(PEER_CUDA)

__constant__ unsigned constants[64], start[8];

__device__ unsigned swap(unsigned word) { return __byte_perm(word, 0, 0x0123); }

__global__ void sha256(unsigned* digests, const unsigned* texts, int count) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= count) return;
  const unsigned* text = texts + id * words;
  unsigned* digest = digests + id * 8;
  SHA256_BODY(swap, _Pragma("unroll"))
}

int main(int argc, char** argv) {
  unsigned* in = bench::to_device(texts());
  unsigned* out = bench::on_device<unsigned>(size_t{messages} * 8);
  CUDA_OK(cudaMemcpyToSymbol(constants, prime_roots(64, 3).data(), sizeof constants));
  CUDA_OK(cudaMemcpyToSymbol(start, prime_roots(8, 2).data(), sizeof start));
  return bench::measure(
      argc, argv,
      [&] {
        sha256<<<messages / 128, 128>>>(out, in, messages);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{messages} * 8); });
}

#elif defined(PEER_OPENMP)

static void sha256(unsigned* digest, const unsigned* text, const unsigned* constants,
                   const unsigned* start) {
  SHA256_BODY(__builtin_bswap32, _Pragma("GCC unroll 16"))
}

int main(int argc, char** argv) {
  std::vector<unsigned> in = texts(), out(size_t{messages} * 8);
  std::vector<unsigned> constants = prime_roots(64, 3), start = prime_roots(8, 2);
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned* from = in.data();
        unsigned* to = out.data();
#pragma omp parallel for
        for (int id = 0; id < messages; ++id)
          sha256(to + id * 8, from + id * words, constants.data(), start.data());
      },
      [&] { return out; });
}

#else

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

int main(int argc, char** argv) {
  std::string source =
      "unsigned swap(unsigned word) { return as_uint(as_uchar4(word).wzyx); }\n"
      "kernel void sha256(global unsigned* digests, global const unsigned* texts,"
      " constant unsigned* constants, constant unsigned* start, int count) {"
      " int id = get_global_id(0); if (id >= count) return;"
      " global const unsigned* text = texts + id * 64; global unsigned* digest = digests + id * 8;";
  source += TEXT(SHA256_BODY(swap, ));
  source += "}";
  bench::OpenCl cl(source.c_str());
  cl_mem out = cl.on_device<unsigned>(size_t{messages} * 8);
  cl_kernel sha256 =
      cl.kernel("sha256", out, cl.to_device(texts()), cl.to_device(prime_roots(64, 3)),
                cl.to_device(prime_roots(8, 2)), messages);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sha256, messages, 128);
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(out, size_t{messages} * 8); });
}

#endif
