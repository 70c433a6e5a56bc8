// A memory pool handed to another process by file descriptor: blocks of many sizes are exported as
// they are allocated, computed on there, freed there and then here, and memory is used again.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

constexpr int rounds = 40;

__global__ void fill(unsigned* v, size_t count, unsigned first) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    v[i] = first + unsigned(i);
}

__global__ void check_and_negate(unsigned* v, size_t count, unsigned first, unsigned* wrong) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    if (v[i] != first + unsigned(i)) atomicAdd(wrong, 1u);
    v[i] = ~v[i];
  }
}

struct Block {
  cudaMemPoolPtrExportData data;
  size_t count;
  unsigned first;
};

static size_t count_of(int round) { return size_t(1) + size_t(round) * 9973 * (1 + round % 5); }

static void send_descriptor(int socket, int descriptor) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &message, 0) != 1) std::exit(2);
}

static int receive_descriptor(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message)) std::exit(2);
  int descriptor;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

static int importer(int socket) {
  Verdict verdict;
  cudaMemPool_t pool;
  const int descriptor = receive_descriptor(socket);
  CHECK(cudaMemPoolImportFromShareableHandle(
      &pool, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)),
      cudaMemHandleTypePosixFileDescriptor, 0));
  close(descriptor);
  unsigned* wrong;
  CHECK(cudaMallocManaged(&wrong, sizeof *wrong));
  for (int round = 0; round < rounds; ++round) {
    Block block;
    if (recv(socket, &block, sizeof block, MSG_WAITALL) != sizeof block) return 3;
    void* v;
    CHECK(cudaMemPoolImportPointer(&v, pool, &block.data));
    *wrong = 0;
    check_and_negate<<<8, 128>>>(static_cast<unsigned*>(v), block.count, block.first, wrong);
    CHECK(cudaDeviceSynchronize());
    verdict.equal(*wrong, 0u, "what the exporter wrote", round);
    CHECK(round % 2 ? cudaFree(v) : cudaFreeAsync(v, nullptr));
    CHECK(cudaDeviceSynchronize());
    char done = 1;
    if (send(socket, &done, 1, 0) != 1) return 3;
  }
  return verdict.failures ? 4 : 0;
}

int main() {
  Verdict verdict;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 2;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    _exit(importer(ends[1]));
  }
  close(ends[1]);
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &props));
  int descriptor;
  CHECK(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor,
                                           0));
  send_descriptor(ends[0], descriptor);
  close(descriptor);
  for (int round = 0; round < rounds; ++round) {
    Block block{};
    block.count = count_of(round);
    block.first = unsigned(round) * 1000003u;
    unsigned *v, last = 0;
    CHECK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&v), block.count * 4, pool, nullptr));
    fill<<<8, 128>>>(v, block.count, block.first);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemPoolExportPointer(&block.data, v));
    if (send(ends[0], &block, sizeof block, 0) != sizeof block) return 3;
    char done = 0;
    if (recv(ends[0], &done, 1, 0) != 1) return 3;
    CHECK(cudaMemcpy(&last, v + block.count - 1, 4, cudaMemcpyDeviceToHost));
    verdict.equal(last, ~(block.first + unsigned(block.count - 1)), "what the importer wrote",
                  round);
    CHECK(cudaFreeAsync(v, nullptr));
  }
  int status = 0;
  waitpid(child, &status, 0);
  verdict.expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the importer", status);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemPoolDestroy(pool));
  return verdict.finish();
}
