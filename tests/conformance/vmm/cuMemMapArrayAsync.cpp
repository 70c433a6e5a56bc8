#include "conformance/gate.h"
#include "conformance/graph/graphs.h"
#include "conformance/memory/array_case.h"
#include "conformance/sparse.h"
#include "conformance/texobject/textures.h"
#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemMapArrayAsync, an_array_that_is_not_sparse) {
  CUarrayMapInfo info{};
  info.resourceType = CU_RESOURCE_TYPE_ARRAY;
  info.resource.array = plain_array();
  info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
  info.deviceBitMask = 1;
  expect_code("refused", cuMemMapArrayAsync(&info, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemMapArrayAsync, wrong_arguments) {
  expect_code("no list", cuMemMapArrayAsync(nullptr, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing", cuMemMapArrayAsync(nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemMapArrayAsync, what_is_not_mapped_reads_zero_and_takes_nothing) {
  CUarray array = sparse_array(256, 256);
  CUmemGenericAllocationHandle pool = tile_pool();
  expect_code("one tile", map(tiles_of(array, pool, 0, 128, 0, 128, 128)), CUDA_SUCCESS);
  count_texels(array, 256, 256, 1);
  std::vector<float> all = texels(array, 256, 256);
  size_t right = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool there = i % 256 >= 128 && i / 256 < 128;
    right += all[i] == (there ? static_cast<float>(i + 1) : 0.0f);
  }
  expect("every texel", right, all.size());
  expect_code("unmapped", map(tiles_of(array, 0, 0, 128, 0, 128, 128)), CUDA_SUCCESS);
  expect("gone", texel(array, 200, 5), 0.0f);
}

CONFORM(cuMemMapArrayAsync, one_piece_of_memory_at_two_places) {
  CUarray array = sparse_array(256, 128), other = sparse_array(128, 128);
  CUmemGenericAllocationHandle pool = tile_pool();
  CUarrayMapInfo infos[] = {tiles_of(array, pool, tile_bytes, 0, 0, 128, 128),
                            tiles_of(array, pool, tile_bytes, 128, 0, 128, 128),
                            tiles_of(other, pool, tile_bytes, 0, 0, 128, 128)};
  expect_code("three places", cuMemMapArrayAsync(infos, 3, nullptr), CUDA_SUCCESS);
  set_texel(array, 7, 9, 5.5f);
  expect("beside it", texel(array, 135, 9), 5.5f);
  expect("in another array", texel(other, 7, 9), 5.5f);
  set_texel(other, 8, 9, 6.5f);
  expect("and back", texel(array, 8, 9), 6.5f);
  REQUIRE(cuArrayDestroy(other));
  expect("after the other is gone", texel(array, 136, 9), 6.5f);
}

CONFORM(cuMemMapArrayAsync, memory_keeps_its_texels_and_lives_while_mapped) {
  CUarray array = sparse_array(256, 128);
  CUmemGenericAllocationHandle pool = tile_pool();
  REQUIRE(map(tiles_of(array, pool, 0, 0, 0, 256, 128)));
  set_texel(array, 130, 3, 1.5f);
  REQUIRE(map(tiles_of(array, 0, 0, 128, 0, 128, 128)));
  expect("unmapped", texel(array, 130, 3), 0.0f);
  REQUIRE(map(tiles_of(array, pool, tile_bytes, 128, 0, 128, 128)));
  expect("mapped again: tiles follow each other", texel(array, 130, 3), 1.5f);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("the handle is given up", cuMemRelease(pool), CUDA_SUCCESS);
  set_texel(array, 1, 1, 2.5f);
  expect("still there", texel(array, 1, 1), 2.5f);
  expect_code("destroyed with its memory", cuArrayDestroy(array), CUDA_SUCCESS);
}

CONFORM(cuMemMapArrayAsync, happens_in_the_order_of_its_stream) {
  CUarray array = sparse_array(128, 128);
  CUmemGenericAllocationHandle pool = tile_pool();
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  float before = -1, after = -1, value = 3.25f;
  REQUIRE(map(tiles_of(array, pool, 0, 0, 0, 128, 128)));
  REQUIRE(cuMemcpyHtoA(array, 0, &value, 4));
  REQUIRE(map(tiles_of(array, 0, 0, 0, 0, 128, 128)));
  REQUIRE(cuCtxSynchronize(nullptr));
  // No Gate: on an H200 the call waits for kernels that run, and a copy in the stream behind it too.
  HostWord turn;
  REQUIRE(cuStreamWaitValue32(stream, turn.at(), 1, CU_STREAM_WAIT_VALUE_EQ));
  REQUIRE(map(tiles_of(array, pool, 0, 0, 0, 128, 128), stream));
  before = texel(array, 0, 0);
  turn.set(1);
  REQUIRE(cuStreamSynchronize(stream));
  after = texel(array, 0, 0);
  expect("before it is its turn", before, 0.0f);
  expect("after", after, 3.25f);
}

CONFORM(cuMemMapArrayAsync, textures) {
  CUarray array = sparse_array(200, 256);
  CUmemGenericAllocationHandle pool = tile_pool();
  TextureObject texture(array_resource(array), sampler());
  // The second column ends at the array's edge.
  expect_code("up to the edge", map(tiles_of(array, pool, 0, 128, 128, 72, 128)), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  set_texel(array, 190, 130, 4.0f);
  set_texel(array, 1, 5, 4.0f);
  expect("stored", fetch_2d(texture, 190.5f, 130.5f), 4.0f);
  expect("stored to nothing", fetch_2d(texture, 1.5f, 5.5f), 0.0f);
  REQUIRE(map(tiles_of(array, pool, 0, 0, 0, 128, 128)));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the same memory elsewhere", fetch_2d(texture, 62.5f, 2.5f), 4.0f);
}

CONFORM(cuMemMapArrayAsync, an_array_smaller_than_a_tile_is_a_tail) {
  CUarray array = sparse_array(64, 512);
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  REQUIRE(cuArrayGetSparseProperties(&properties, array));
  CUmemGenericAllocationHandle pool = tile_pool();
  expect_code("no tiles", map(tiles_of(array, pool, 0, 0, 0, 64, 128)), CUDA_ERROR_INVALID_VALUE);
  CUarrayMapInfo info = tiles_of(array, pool, tile_bytes, 0, 0, 0, 0);
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
  info.subresource = {};
  info.subresource.miptail.size = properties.miptailSize;
  expect_code("the tail", map(info), CUDA_SUCCESS);
  count_texels(array, 64, 512, 1);
  expect("the last texel", texel(array, 63, 511), 32768.0f);
}

CONFORM(cuMemMapArrayAsync, filters_read_across_tiles) {
  CUDA_ARRAY3D_DESCRIPTOR desc{256, 256, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray plain = nullptr, sparse = sparse_array(256, 256);
  REQUIRE(cuArray3DCreate(&plain, &desc));
  CUmemGenericAllocationHandle pool = tile_pool();
  for (unsigned i = 0; i < 4; ++i)
    REQUIRE(
        map(tiles_of(sparse, pool, (7 - 2 * i) * tile_bytes, i % 2 * 128, i / 2 * 128, 128, 128)));
  count_texels(plain, 256, 256, 0);
  count_texels(sparse, 256, 256, 0);
  const auto linear = sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR);
  TextureObject one(array_resource(plain), linear), other(array_resource(sparse), linear);
  const std::vector<std::pair<float, float>> places = {
      {128, 128}, {127.25f, 3.5f}, {5.75f, 128.25f}, {255.9f, 0.1f}, {128.5f, 127.75f}};
  size_t same = 0;
  for (auto [x, y] : places) same += fetch_2d(one, x, y) == fetch_2d(other, x, y);
  expect("as from an array", same, places.size());
}

CONFORM(cuMemMapArrayAsync, memory_that_is_exported_while_it_is_mapped) {
  CUmemAllocationProp prop = device_properties(true);
  prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
  CUmemGenericAllocationHandle pool = 0, again = 0;
  if (cuMemCreate(&pool, granularity(), &prop, 0)) skip("no tile pools for other processes");
  CUarray array = sparse_array(128, 128), other = sparse_array(128, 128);
  REQUIRE(map(tiles_of(array, pool, tile_bytes, 0, 0, 128, 128)));
  set_texel(array, 3, 4, 1.5f);
  intptr_t descriptor = 0;
  REQUIRE(
      cuMemExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  expect("kept", texel(array, 3, 4), 1.5f);
  REQUIRE(cuMemImportFromShareableHandle(&again, reinterpret_cast<void*>(descriptor & 0xffffffff),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  expect_code("mapped by the other handle", map(tiles_of(other, again, tile_bytes, 0, 0, 128, 128)),
              CUDA_SUCCESS);
  expect("the same memory", texel(other, 3, 4), 1.5f);
  set_texel(other, 5, 4, 2.5f);
  expect("both ways", texel(array, 5, 4), 2.5f);
}

CONFORM(cuMemMapArrayAsync, layers_and_slices) {
  CUarray layered = sparse_array(128, 128, 3, CUDA_ARRAY3D_LAYERED);
  CUmemGenericAllocationHandle pool = tile_pool();
  CUarrayMapInfo info = tiles_of(layered, pool, 0, 0, 0, 128, 128);
  info.subresource.sparseLevel.layer = 2;
  expect_code("a layer", map(info), CUDA_SUCCESS);
  for (size_t z = 0; z < 3; ++z) set_texel(layered, 3, 4, 1.0f + static_cast<float>(z), z);
  expect("layer 1", texel(layered, 3, 4, 1), 0.0f);
  expect("layer 2", texel(layered, 3, 4, 2), 3.0f);
  info.subresource.sparseLevel.layer = 3;
  expect_code("no such layer", map(info), CUDA_ERROR_INVALID_VALUE);
  info.subresource.sparseLevel.layer = 0;
  info.subresource.sparseLevel.offsetZ = 1;
  expect_code("layers are no slices", map(info), CUDA_ERROR_INVALID_VALUE);

  CUarray volume = sparse_array(64, 32, 32);
  CUarrayMapInfo box = tiles_of(volume, pool, tile_bytes, 32, 0, 32, 32);
  box.subresource.sparseLevel.offsetZ = 16;
  box.subresource.sparseLevel.extentDepth = 16;
  expect_code("a box", map(box), CUDA_SUCCESS);
  set_texel(volume, 40, 30, 8.0f, 31);
  set_texel(volume, 40, 30, 9.0f, 15);
  expect("inside", texel(volume, 40, 30, 31), 8.0f);
  expect("the slice before it", texel(volume, 40, 30, 15), 0.0f);
  REQUIRE(cuCtxSynchronize(nullptr));
  TextureObject solid(array_resource(volume), sampler());
  expect("a 3D texture",
         fetch_floats(solid, "tex.3d.v4.f32.f32", "[%t, {%f0, %f1, %f2, %f2}]",
                      {40.5f, 30.5f, 31.5f})[0],
         8.0f);
  TextureObject layers(array_resource(layered), sampler());
  expect("a layered texture",
         fetch_floats(layers, "tex.a2d.v4.f32.f32", "[%t, {%i0, %f0, %f1, %f1}]", {3.5f, 4.5f},
                      {2})[0],
         3.0f);
}

CONFORM(cuMemMapArrayAsync, levels_and_the_mip_tail) {
  CUmipmappedArray array = mipmapped(256, 256, 0, 9, CUDA_ARRAY3D_SPARSE);
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  REQUIRE(cuMipmappedArrayGetSparseProperties(&properties, array));
  CUmemGenericAllocationHandle pool = tile_pool();
  expect_code("level 1", map(tiles_of(array, 1, pool, 0, 128, 128)), CUDA_SUCCESS);
  set_texel(level_of(array, 0), 5, 6, 1.0f);
  set_texel(level_of(array, 1), 5, 6, 2.0f);
  set_texel(level_of(array, 2), 5, 6, 3.0f);
  expect("level 0 is not there", texel(level_of(array, 0), 5, 6), 0.0f);
  expect("level 1 is", texel(level_of(array, 1), 5, 6), 2.0f);
  expect("nor is the tail", texel(level_of(array, 2), 5, 6), 0.0f);
  expect_code("the tail", map(tail_of(array, pool, tile_bytes, properties.miptailSize)),
              CUDA_SUCCESS);
  for (unsigned i = 2; i < 9; ++i)
    count_texels(level_of(array, i), 256u >> i, 256u >> i, 1000.0f * static_cast<float>(i));
  size_t wrong = 0;
  for (unsigned i = 2; i < 9; ++i) {
    std::vector<float> all = texels(level_of(array, i), 256u >> i, 256u >> i);
    for (size_t k = 0; k < all.size(); ++k)
      wrong += all[k] != 1000.0f * static_cast<float>(i) + static_cast<float>(k);
  }
  expect("the tail's levels do not overlap", wrong, size_t{0});
  expect("nor with level 1", texel(level_of(array, 1), 5, 6), 2.0f);
  expect_code("a level of the tail is no level of tiles", map(tiles_of(array, 2, pool, 0, 64, 64)),
              CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  TextureObject texture(resource, sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
                                          CU_TRSF_NORMALIZED_COORDINATES));
  expect("a texture's level 8", fetch_level(texture, 0.5f, 0.5f, 8), 8000.0f);
  expect("a texture's level 0", fetch_level(texture, 0.5f, 0.5f, 0), 0.0f);
  expect_code("no tail", map(tail_of(array, 0, 0, properties.miptailSize)), CUDA_SUCCESS);
  expect("gone", texel(level_of(array, 8), 0, 0), 0.0f);
  CUarrayMapInfo level = tiles_of(level_of(array, 1), pool, 0, 0, 0, 128, 128);
  expect_code("a level is no array of its own", map(level), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemMapArrayAsync, deferred_arrays_get_their_memory_whole) {
  CUDA_ARRAY3D_DESCRIPTOR desc{100, 50, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING};
  CUarray array = nullptr;
  expect_code("made", cuArray3DCreate(&array, &desc), CUDA_SUCCESS);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  REQUIRE(cuArrayGetMemoryRequirements(&needs, array, 0));
  CUmemGenericAllocationHandle pool = tile_pool();
  CUarrayMapInfo info = tiles_of(array, pool, 0, 0, 0, 0, 0);
  expect_code("mapped: the subresource is not looked at", map(info), CUDA_SUCCESS);
  count_texels(array, 100, 50, 1);
  expect("the last texel", texel(array, 99, 49), 5000.0f);
  REQUIRE(cuCtxSynchronize(nullptr));
  TextureObject texture(array_resource(array), sampler());
  expect("a texture", fetch_2d(texture, 3.5f, 1.5f), 104.0f);
  info.offset = 2 << 20;
  expect_code("beyond the memory", map(info), CUDA_ERROR_INVALID_VALUE);
  expect_code("unmapped", map(tiles_of(array, 0, 0, 0, 0, 0, 0)), CUDA_SUCCESS);
}

CONFORM(cuMemMapArrayAsync, graphs_copy_but_do_not_map) {
  CUarray array = sparse_array(256, 128);
  CUmemGenericAllocationHandle pool = tile_pool();
  REQUIRE(map(tiles_of(array, pool, 0, 0, 0, 128, 128)));
  REQUIRE(cuCtxSynchronize(nullptr));
  std::vector<float> values(256, 2.5f);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values.data();
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.dstY = 3;
  copy.WidthInBytes = 1024;
  copy.Height = copy.Depth = 1;
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("a node", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_now()),
              CUDA_SUCCESS);
  run(graph);
  expect("copied", texel(array, 127, 3), 2.5f);
  expect("to nothing", texel(array, 128, 3), 0.0f);
  CUstream stream = new_stream();
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  expect_code("no map in a capture", map(tiles_of(array, pool, 0, 0, 0, 128, 128), stream),
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CONFORM(cuMemMapArrayAsync, memory_goes_with_the_array_s_context) {
  FreeMemory memory;
  for (int i = 0; i < FreeMemory::tries && !memory.seen; ++i) {
    CUcontext primary = context_now(), context = nullptr;
    memory.begin();
    CUmemGenericAllocationHandle pool = tile_pool();
    REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
    REQUIRE(map(tiles_of(sparse_array(128, 128), pool, 0, 0, 0, 128, 128)));
    REQUIRE(cuCtxSynchronize(nullptr));
    REQUIRE(cuMemRelease(pool));
    REQUIRE(cuCtxDestroy(context));
    REQUIRE(cuCtxSetCurrent(primary));
    memory.rose_by(0);
  }
  expect_true("all of it", memory.seen);
}

CONFORM(cuMemMapArrayAsync, wrong_entries) {
  CUarray array = sparse_array(300, 256);
  CUmemGenericAllocationHandle pool = tile_pool(), plain = tile_pool(0);
  const CUarrayMapInfo good = tiles_of(array, pool, 0, 0, 0, 128, 128);
  auto changed = [&](auto&& how) {
    CUarrayMapInfo info = good;
    how(info);
    return map(info);
  };
  const CUresult wrong = CUDA_ERROR_INVALID_VALUE;
  expect_code("flags", changed([](auto& i) { i.flags = 1; }), wrong);
  expect_code("reserved", changed([](auto& i) { i.reserved[1] = 1; }), wrong);
  expect_code("no device", changed([](auto& i) { i.deviceBitMask = 0; }), wrong);
  expect_code("two devices", changed([](auto& i) { i.deviceBitMask = 3; }), wrong);
  expect_code("no operation", changed([](auto& i) { i.memOperationType = CUmemOperationType(0); }),
              wrong);
  expect_code("no such handle type", changed([](auto& i) { i.memHandleType = CUmemHandleType(1); }),
              wrong);
  // What is unmapped need not be said.
  expect_code("memory to unmap",
              changed([](auto& i) { i.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP; }),
              CUDA_SUCCESS);
  expect_code("memory that is no tile pool",
              changed([&](auto& i) { i.memHandle.memHandle = plain; }), wrong);
  expect_code("half a tile", changed([](auto& i) { i.offset = tile_bytes / 2; }), wrong);
  expect_code("beyond the memory", changed([](auto& i) { i.offset = 2 << 20; }), wrong);
  expect_code("not at a tile", changed([](auto& i) { i.subresource.sparseLevel.offsetX = 64; }),
              wrong);
  expect_code("not a tile", changed([](auto& i) { i.subresource.sparseLevel.extentHeight = 100; }),
              wrong);
  expect_code("beyond the array", changed([](auto& i) { i.subresource.sparseLevel.offsetY = 256; }),
              wrong);
  expect_code("no extent", changed([](auto& i) { i.subresource.sparseLevel.extentDepth = 0; }),
              wrong);
  expect_code("no such level", changed([](auto& i) { i.subresource.sparseLevel.level = 1; }),
              wrong);
  CUarrayMapInfo both[] = {good, good};
  both[1].flags = 1;
  expect_code("one of two", cuMemMapArrayAsync(both, 2, nullptr), wrong);
  set_texel(array, 1, 1, 1.0f);
  expect("none was done", texel(array, 1, 1), 0.0f);
  REQUIRE(cuArrayDestroy(array));
  expect_code("destroyed", map(good), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
