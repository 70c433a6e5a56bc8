// The private tables: their sizes, context-local storage, and the integrity answer, which the test
// works out again from the documented message.
#include <pthread.h>

#include <cstring>
#include <vector>

#include "library.h"
#include "loader/md2.h"

namespace limen::test {
namespace {

using Word = const void*;

const Word* table(std::initializer_list<unsigned char> bytes) {
  CUuuid id{};
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<unsigned char*>(id.bytes));
  const void* words = nullptr;
  const CUuuid* given = &id;
  CUresult result = call("cuGetExportTable", &words, given);
  EXPECT_EQ(result == CUDA_SUCCESS, words != nullptr);
  return static_cast<const Word*>(words);
}

const Word* cudart_interface() {
  return table({0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd,
                0x9d, 0xf9});
}
const Word* integrity() {
  return table({0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66,
                0xe1, 0xf2});
}
const Word* storage() {
  return table({0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8,
                0x95, 0x93});
}

template <typename Function>
Function* slot(const Word* words, int index) {
  return reinterpret_cast<Function*>(const_cast<void*>(words[index]));
}

TEST(PrivateTables, SizesOfDriver580) {
  in_child([] {
    EXPECT_EQ(reinterpret_cast<size_t>(cudart_interface()[0]), 13u * 8);
    EXPECT_EQ(reinterpret_cast<size_t>(integrity()[0]), 3u * 8);
    EXPECT_EQ(storage()[3], nullptr);
    for (int i = 1; i < 13; ++i) EXPECT_NE(cudart_interface()[i], nullptr) << i;
    EXPECT_EQ(cudart_interface(), cudart_interface());
  });
}

TEST(PrivateTables, UnknownTableIsRefused) {
  in_child([] {
    EXPECT_EQ(table({1, 2, 3}), nullptr);
    const void** nowhere = nullptr;
    EXPECT_EQ(call("cuGetExportTable", nowhere, nowhere), CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(PrivateTables, UnknownSlotAnswersNotSupported) {
  in_child([] { EXPECT_EQ(slot<CUresult()>(cudart_interface(), 3)(), CUDA_ERROR_NOT_SUPPORTED); });
}

TEST(PrivateTables, PrimaryContextWithoutRetain) {
  in_child([] {
    auto* primary = slot<CUresult(CUcontext*, CUdevice)>(cudart_interface(), 2);
    CUcontext context = nullptr;
    EXPECT_EQ(primary(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
    ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    EXPECT_EQ(primary(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(context, reinterpret_cast<CUcontext>(0x1000));
  });
}

int destructor_calls = 0;
void* destroyed_value = nullptr;
void destructor(CUcontext, void*, void* value) {
  ++destructor_calls;
  destroyed_value = value;
}

TEST(PrivateTables, ContextStorage) {
  in_child([] {
    auto* put =
        slot<CUresult(CUcontext, void*, void*, void (*)(CUcontext, void*, void*))>(storage(), 0);
    auto* erase = slot<CUresult(CUcontext, void*)>(storage(), 1);
    auto* get = slot<CUresult(void**, CUcontext, void*)>(storage(), 2);
    int key_a = 0, key_b = 0, one = 1, two = 2;
    void* value = nullptr;
    auto context = reinterpret_cast<CUcontext>(0x5000);
    auto other = reinterpret_cast<CUcontext>(0x6000);
    EXPECT_EQ(get(&value, nullptr, &key_a), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    EXPECT_EQ(get(&value, nullptr, &key_a), CUDA_ERROR_INVALID_CONTEXT);
    record().current = context;
    EXPECT_EQ(get(&value, nullptr, &key_a), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(put(nullptr, &key_a, &one, destructor), CUDA_SUCCESS);
    EXPECT_EQ(put(context, &key_a, &two, destructor), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(put(other, &key_a, &two, destructor), CUDA_SUCCESS);
    EXPECT_EQ(put(context, &key_b, &two, nullptr), CUDA_SUCCESS);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(get(&value, nullptr, &key_a), CUDA_SUCCESS);
      EXPECT_EQ(value, &one);
      EXPECT_EQ(get(&value, other, &key_a), CUDA_SUCCESS);
      EXPECT_EQ(value, &two);
    }
    EXPECT_EQ(erase(context, &key_b), CUDA_SUCCESS);
    EXPECT_EQ(erase(context, &key_b), CUDA_ERROR_INVALID_HANDLE);
    record().end_context(context);
    EXPECT_EQ(destructor_calls, 1);
    EXPECT_EQ(destroyed_value, &one);
    EXPECT_EQ(get(&value, context, &key_a), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(get(&value, other, &key_a), CUDA_SUCCESS);
    EXPECT_EQ(put(context, &key_a, &two, destructor), CUDA_SUCCESS);
    EXPECT_EQ(get(&value, context, &key_a), CUDA_SUCCESS);
    EXPECT_EQ(value, &two);
  });
}

template <typename T>
void add(std::vector<uint8_t>& message, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  message.insert(message.end(), bytes, bytes + sizeof value);
}

TEST(PrivateTables, IntegrityAnswer) {
  in_child([] {
    ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    uint8_t answer[16];
    auto* ask = slot<CUresult(unsigned, uint64_t, uint8_t*)>(integrity(), 1);
    ASSERT_EQ(ask(13002, 1764400000, answer), CUDA_SUCCESS);
    std::vector<uint8_t> message;
    add(message, uint32_t{13000});
    add(message, uint32_t{13002});
    add(message, static_cast<uint32_t>(getpid()));
    add(message, static_cast<uint32_t>(pthread_self()));
    add(message, cudart_interface());
    add(message, integrity());
    add(message, integrity()[1]);
    add(message, uint64_t{1764400000});
    ASSERT_EQ(message.size(), 48u);
    for (int device = 0; device < 2; ++device) {
      for (int i = 0; i < 16; ++i) message.push_back(static_cast<uint8_t>(0x40 + device));
      for (int attribute : {50, 33, 34}) add(message, 100 * device + attribute);
    }
    ASSERT_EQ(message.size(), 48u + 2 * 28);
    const uint8_t key[16] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                             0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};
    loader::Md2Digest expected = loader::hmac_md2(key, message);
    EXPECT_EQ(std::memcmp(answer, expected.data(), 16), 0);
  });
}

}  // namespace
}  // namespace limen::test
