// Where copies come from and go to, and a stream whose work waits: what many cases need beside
// conform.h. Everything lives for a scope. Thread rule: as conform.h.
#pragma once
#include <string>
#include <thread>
#include <vector>

#include "conformance/conform.h"

namespace limen::conform {

/// "1 2 3": for comparing several numbers in one check.
template <typename T>
std::string listed(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += ' ';
    text += text_of(+value);
  }
  return text;
}

/// Several values of device memory, synchronously.
template <typename T>
std::vector<T> read_list(CUdeviceptr address, size_t count) {
  std::vector<T> values(count);
  REQUIRE(cuMemcpyDtoH(values.data(), address, count * sizeof(T)));
  return values;
}
template <typename T>
void write_list(CUdeviceptr address, const std::vector<T>& values) {
  REQUIRE(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)));
}

/// Pinned host memory, zeros at first.
template <typename T>
class Pinned {
 public:
  explicit Pinned(size_t count) {
    void* memory = nullptr;
    REQUIRE(cuMemHostAlloc(&memory, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP));
    values_ = static_cast<volatile T*>(memory);
    for (size_t i = 0; i < count; ++i) values_[i] = 0;
  }
  ~Pinned() { cuMemFreeHost(data()); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  volatile T& operator[](size_t i) { return values_[i]; }
  T* data() { return const_cast<T*>(values_); }
  CUdeviceptr address() { return reinterpret_cast<CUdeviceptr>(data()); }

 private:
  volatile T* values_ = nullptr;
};

/// A stream of its own whose work waits behind a kernel until open().
class HeldStream {
 public:
  HeldStream() : flag_(1) {
    REQUIRE(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream_, flag_.address()));
  }
  ~HeldStream() {
    open();
    cuStreamDestroy(stream_);
  }
  /// Lets the work go on, and waits for its end.
  void open() {
    flag_[0] = 1;
    cuStreamSynchronize(stream_);
  }
  operator CUstream() const { return stream_; }

 private:
  Pinned<uint32_t> flag_;
  CUstream stream_ = nullptr;
};

/// A stream that is no more.
inline CUstream destroyed_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(stream));
  return stream;
}

/// Where an allocation was that is no more; large enough to have been a mapping of its own.
inline CUdeviceptr freed_address() {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, 4 << 20));
  REQUIRE(cuMemFree(address));
  return address;
}

/// A CUDA array and its texels, row after row, slice after slice.
class Texels {
 public:
  Texels(CUarray_format format, unsigned channels, size_t width, size_t height = 0,
         size_t depth = 0, unsigned flags = 0) {
    const CUDA_ARRAY3D_DESCRIPTOR desc{width, height, depth, format, channels, flags};
    REQUIRE(cuArray3DCreate(&array_, &desc));
    height_ = height ? height : 1;
    depth_ = depth ? depth : 1;
  }
  ~Texels() { cuArrayDestroy(array_); }
  Texels(const Texels&) = delete;
  Texels& operator=(const Texels&) = delete;
  operator CUarray() const { return array_; }

  template <typename T>
  void put(const std::vector<T>& values) {
    CUDA_MEMCPY3D copy = box(values.size() * sizeof(T));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values.data();
    copy.srcPitch = copy.WidthInBytes;
    copy.srcHeight = height_;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array_;
    REQUIRE(cuMemcpy3D(&copy));
  }
  template <typename T>
  std::vector<T> get(size_t count) const {
    std::vector<T> values(count);
    CUDA_MEMCPY3D copy = box(count * sizeof(T));
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array_;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = values.data();
    copy.dstPitch = copy.WidthInBytes;
    copy.dstHeight = height_;
    REQUIRE(cuMemcpy3D(&copy));
    return values;
  }

 private:
  CUDA_MEMCPY3D box(size_t bytes) const {
    CUDA_MEMCPY3D copy{};
    copy.WidthInBytes = bytes / height_ / depth_;
    copy.Height = height_;
    copy.Depth = depth_;
    return copy;
  }

  CUarray array_ = nullptr;
  size_t height_ = 1, depth_ = 1;
};

/// What the call answers on a thread that has no context of its own.
template <typename Call>
CUresult on_a_bare_thread(Call call) {
  CUresult result = CUDA_SUCCESS;
  std::thread([&] { result = call(); }).join();
  return result;
}

}  // namespace limen::conform
