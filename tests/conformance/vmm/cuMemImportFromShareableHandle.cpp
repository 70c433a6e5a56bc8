#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/vmm/vmm.h"

namespace limen::conform {

constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static void* os_handle(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}

static int exported(CUmemGenericAllocationHandle handle) {
  int descriptor = -1;
  REQUIRE(cuMemExportToShareableHandle(&descriptor, handle, by_descriptor, 0));
  return descriptor;
}

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
  sendmsg(socket, &message, 0);
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
  if (recvmsg(socket, &message, 0) <= 0 || !CMSG_FIRSTHDR(&message)) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

static void use_device() {
  REQUIRE(cuInit(0));
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuCtxSetCurrent(context));
}

CONFORM(cuMemImportFromShareableHandle, the_same_memory) {
  Mapped range(1, true);
  write<uint32_t>(range.address + 12, 21u);
  const int descriptor = exported(range.handle);
  CUmemGenericAllocationHandle handle = 0;
  expect_code("imports",
              cuMemImportFromShareableHandle(&handle, os_handle(descriptor), by_descriptor),
              CUDA_SUCCESS);
  expect_true("the descriptor stays the caller's", fcntl(descriptor, F_GETFD) >= 0);
  close(descriptor);
  const CUdeviceptr other = reserve(range.bytes);
  expect_code("maps", cuMemMap(other, range.bytes, 0, handle, 0), CUDA_SUCCESS);
  allow(other, range.bytes);
  expect("reads what was written", read<uint32_t>(other + 12), 21u);
  write<uint32_t>(other + 16, 22u);
  expect("and the other way", read<uint32_t>(range.address + 16), 22u);
}

CONFORM_WITH(cuMemImportFromShareableHandle, between_processes, nothing) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) skip("no sockets");
  const pid_t child = fork();
  close(ends[child == 0 ? 0 : 1]);  // so that a child that fails ends the parent's wait
  if (child == 0) {
    use_device();
    CUmemGenericAllocationHandle handle = 0;
    const int descriptor = receive_descriptor(ends[1]);
    expect_code("imports", cuMemImportFromShareableHandle(&handle, os_handle(descriptor),
                                                          by_descriptor),
                CUDA_SUCCESS);
    const size_t bytes = granularity();
    const CUdeviceptr address = reserve(bytes);
    REQUIRE(cuMemMap(address, bytes, 0, handle, 0));
    allow(address, bytes);
    expect("the other process's value", read<uint32_t>(address), 1234u);
    REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + 4, 4321u));
    REQUIRE(cuCtxSynchronize(nullptr));
    char done = 1;
    if (::write(ends[1], &done, 1) != 1) _exit(3);
    _exit(0);
  }
  use_device();
  Mapped range(1, true);
  write<uint32_t>(range.address, 1234u);
  send_descriptor(ends[0], exported(range.handle));
  char done = 0;
  expect_true("the child answers", ::read(ends[0], &done, 1) == 1);
  expect("the child's kernel wrote here", read<uint32_t>(range.address + 4), 4321u);
  waitpid(child, nullptr, 0);
}

CONFORM(cuMemImportFromShareableHandle, memory_outlives_the_exporter) {
  Mapped range(1, true);
  write<uint32_t>(range.address, 31u);
  const int descriptor = exported(range.handle);
  REQUIRE(cuMemUnmap(range.address, range.bytes));
  REQUIRE(cuMemRelease(range.handle));
  CUmemGenericAllocationHandle handle = 0;
  expect_code("imports",
              cuMemImportFromShareableHandle(&handle, os_handle(descriptor), by_descriptor),
              CUDA_SUCCESS);
  REQUIRE(cuMemMap(range.address, range.bytes, 0, handle, 0));
  allow(range.address, range.bytes);
  expect("kept by the descriptor", read<uint32_t>(range.address), 31u);
}

CONFORM(cuMemImportFromShareableHandle, what_is_no_allocation) {
  CUmemGenericAllocationHandle handle = 0;
  expect_code("no descriptor", cuMemImportFromShareableHandle(&handle, os_handle(-1),
                                                              by_descriptor),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  const int null = open("/dev/null", O_RDWR);
  expect_code("another file", cuMemImportFromShareableHandle(&handle, os_handle(null),
                                                             by_descriptor),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no result", cuMemImportFromShareableHandle(nullptr, os_handle(null), by_descriptor),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no type", cuMemImportFromShareableHandle(&handle, os_handle(null),
                                                        CU_MEM_HANDLE_TYPE_NONE),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
