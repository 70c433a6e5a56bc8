// cuTensorMapEncode* and cuTensorMapReplaceAddress: checks as NVIDIA's driver does them (where it
// does not do what is documented, as an H200 answers), then our own 128 bytes
// (engine/tensor_map.h). Nothing is kept: a map is a value that the program copies about.
// Thread rule: any thread. Design: docs/design/tensor_maps.md.
// source: CUDA Driver API 13.0 #group__CUDA__TENSOR__MEMORY
#include "engine/tensor_map.h"

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"

namespace limen::cpu {

namespace {

using engine::TensorInterleave;
using engine::TensorKind;
using engine::TensorMap;
using engine::TensorSwizzle;
using engine::TensorType;

constexpr uint32_t first_capability = 90;
// Of sub-byte types, atoms of swizzles, and instructions that walk along W.
constexpr uint32_t second_capability = 100;
constexpr uint64_t address_end = uint64_t{1} << 57;

/// What the three ways to encode have in common.
struct Encoding {
  CUtensorMap* out;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* sizes;
  const cuuint64_t* strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
  TensorKind kind;
};

template <typename Kept, typename Given>
bool narrow(Given given, Kept* kept) {
  if (static_cast<unsigned>(given) >= static_cast<unsigned>(Kept::count_)) return false;
  *kept = static_cast<Kept>(given);
  return true;
}

bool multiple(uint64_t value, uint64_t of) { return value % of == 0; }

bool read_kinds(const Encoding& e, uint32_t capability, TensorMap* map) {
  if (!narrow(e.type, &map->type) || !narrow(e.interleave, &map->interleave) ||
      !narrow(e.swizzle, &map->swizzle))
    return false;
  if (capability < second_capability &&
      (map->type > TensorType::tf32_ftz || map->swizzle > TensorSwizzle::span128))
    return false;
  if (static_cast<unsigned>(e.promotion) > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
      static_cast<unsigned>(e.fill) > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
    return false;
  map->l2_promotion = static_cast<uint8_t>(e.promotion);
  map->nan_fill = e.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  if (map->nan_fill && !is_real(map->type)) return false;
  if (map->type == TensorType::u6_padded && map->interleave != TensorInterleave::none) return false;
  if (!is_padded(map->type)) return true;
  const bool wide_atoms = map->swizzle == TensorSwizzle::span128_atom64;
  return map->swizzle == TensorSwizzle::none || map->swizzle == TensorSwizzle::span128 ||
         map->swizzle == TensorSwizzle::span128_atom32 ||
         (wide_atoms && map->type == TensorType::u6_padded);
}

bool read_sizes(const Encoding& e, TensorMap* map) {
  constexpr uint64_t most_size = uint64_t{1} << 32, stride_end = uint64_t{1} << 40;
  if (!e.sizes || !e.steps || !e.strides) return false;
  const uint64_t alignment = alignment_of(*map);
  map->address = reinterpret_cast<uint64_t>(e.address);
  if (!multiple(map->address, alignment) || map->address >= address_end) return false;
  for (cuuint32_t d = 0; d < e.rank; ++d) {
    if (e.sizes[d] == 0 || e.sizes[d] > most_size) return false;
    map->last[d] = static_cast<uint32_t>(e.sizes[d] - 1);
    if (e.steps[d] == 0 || e.steps[d] > 8) return false;
    // The first does nothing without interleave.
    const bool ignored = d == 0 && map->interleave == TensorInterleave::none;
    map->step[d] = ignored ? 1 : static_cast<uint8_t>(e.steps[d]);
    if (d == 0) continue;
    const uint64_t stride = e.strides[d - 1];
    if (!multiple(stride, alignment) || stride >= stride_end) return false;
    map->stride[d - 1] = stride;
  }
  if (is_padded(map->type)) return multiple(e.sizes[0], 128);
  return map->type != TensorType::u4_packed || multiple(e.sizes[0], 2);
}

/// A box of `elements` must have room in a multiprocessor's shared memory.
bool fits_shared(const TensorMap& map, uint64_t elements) {
  Context* context;
  if (current(&context)) return false;
  const int room = context->device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  return elements * bits_of(map.type) / 8 <= static_cast<uint64_t>(room);
}

/// Checks what all have in common and fills `map`. The rest is the caller's.
CUresult begin(const Encoding& e, TensorMap* map) {
  Context* context;
  if (CUresult result = current(&context)) return result;
  const uint32_t capability = context->device.capability();
  if (capability < first_capability) return CUDA_ERROR_NOT_SUPPORTED;
  if (!e.out) return CUDA_ERROR_INVALID_VALUE;
  *map = {};
  map->kind = e.kind;
  if (!read_kinds(e, capability, map)) return CUDA_ERROR_INVALID_VALUE;
  const bool deep = e.kind != TensorKind::tiled || map->interleave != TensorInterleave::none;
  if (e.rank < (deep ? 3 : 1) || e.rank > engine::tensor_most_rank) return CUDA_ERROR_INVALID_VALUE;
  map->rank = static_cast<uint8_t>(e.rank);
  return read_sizes(e, map) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult finish(const Encoding& e, TensorMap* map) {
  seal(map);
  std::memcpy(e.out, map, sizeof *map);
  return CUDA_SUCCESS;
}

bool read_pixels(uint32_t channels, uint32_t pixels, TensorMap* map) {
  if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) return false;
  map->channels = static_cast<uint16_t>(channels);
  map->pixels = static_cast<uint16_t>(pixels);
  return fits_row(*map, channels) && fits_shared(*map, uint64_t{channels} * pixels);
}

/// Bits of a corner: W, H and D share 16.
int corner_bits(cuuint32_t rank) { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }

/// A corner of the bounding box within its range, and a box that holds something.
bool read_corner(int lower, int upper, int bits, int index, TensorMap* map) {
  const int low = -(1 << (bits - 1)), high = -low - 1;
  if (lower < low || lower > high || upper < low || upper > high) return false;
  map->lower[index] = static_cast<int16_t>(lower);
  map->upper[index] = static_cast<int16_t>(upper);
  const auto dimension =
      static_cast<uint32_t>(index) + (map->interleave == TensorInterleave::none ? 1 : 0);
  return lower < map->size(dimension) + upper;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void* globalAddress,
                                const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                const cuuint32_t* boxDim, const cuuint32_t* elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
  const Encoding e{tensorMap, tensorDataType, tensorRank,     globalAddress,
                   globalDim, globalStrides,  elementStrides, interleave,
                   swizzle,   l2Promotion,    oobFill,        TensorKind::tiled};
  TensorMap map;
  if (CUresult result = begin(e, &map)) return result;
  if (!boxDim) return CUDA_ERROR_INVALID_VALUE;
  uint64_t elements = 1;
  for (cuuint32_t d = 0; d < tensorRank; ++d) {
    if (boxDim[d] == 0 || boxDim[d] > 256) return CUDA_ERROR_INVALID_VALUE;
    map.box[d] = static_cast<uint16_t>(boxDim[d]);
    elements *= (boxDim[d] + map.step[d] - 1u) / map.step[d];
  }
  if (!fits_row(map, boxDim[0]) || !fits_shared(map, elements)) return CUDA_ERROR_INVALID_VALUE;
  return finish(e, &map);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                 cuuint32_t tensorRank, void* globalAddress,
                                 const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                 const int* pixelBoxLowerCorner, const int* pixelBoxUpperCorner,
                                 cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill) {
  const Encoding e{tensorMap, tensorDataType, tensorRank,     globalAddress,
                   globalDim, globalStrides,  elementStrides, interleave,
                   swizzle,   l2Promotion,    oobFill,        TensorKind::im2col};
  TensorMap map;
  if (CUresult result = begin(e, &map)) return result;
  if (!pixelBoxLowerCorner || !pixelBoxUpperCorner ||
      !read_pixels(channelsPerPixel, pixelsPerColumn, &map))
    return CUDA_ERROR_INVALID_VALUE;
  const int bits = corner_bits(tensorRank);
  for (int i = 0; i < static_cast<int>(tensorRank) - 2; ++i)
    if (!read_corner(pixelBoxLowerCorner[i], pixelBoxUpperCorner[i], bits, i, &map))
      return CUDA_ERROR_INVALID_VALUE;
  return finish(e, &map);
}

CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void* globalAddress, const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
    int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill) {
  const Encoding e{
      tensorMap,
      tensorDataType,
      tensorRank,
      globalAddress,
      globalDim,
      globalStrides,
      elementStrides,
      interleave,
      swizzle,
      l2Promotion,
      oobFill,
      mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 ? TensorKind::wide128 : TensorKind::wide};
  TensorMap map;
  if (CUresult result = begin(e, &map)) return result;
  Context* context;
  if (CUresult result = current(&context)) return result;
  // Capability 9.0 can encode what it has no instruction for: then every swizzle goes, and the
  // modes are one (measured H200, driver 580.159.04).
  const bool strict = context->device.capability() >= second_capability;
  if (!strict) map.kind = TensorKind::wide;
  const bool swizzled = map.swizzle == TensorSwizzle::span64 ||
                        map.swizzle == TensorSwizzle::span128 ||
                        map.swizzle == TensorSwizzle::span128_atom32;
  if ((strict && (!swizzled || map.interleave != TensorInterleave::none)) ||
      static_cast<unsigned>(mode) > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 ||
      !read_pixels(channelsPerPixel, pixelsPerColumn, &map) ||
      !read_corner(pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, corner_bits(tensorRank), 0,
                   &map))
    return CUDA_ERROR_INVALID_VALUE;
  return finish(e, &map);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
  Context* context;
  if (CUresult result = current(&context)) return result;
  const auto address = reinterpret_cast<uint64_t>(globalAddress);
  if (!tensorMap || address == 0 || address >= address_end || !multiple(address, 16))
    return CUDA_ERROR_INVALID_VALUE;
  TensorMap map;
  std::memcpy(&map, tensorMap, sizeof map);
  const bool sealed = is_tensor_map(map);
  map.address = address;
  // What was no map becomes none: NVIDIA's driver does not look, a kernel will.
  if (sealed) seal(&map);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
