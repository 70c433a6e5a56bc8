// A case in two processes: a child that is forked before the driver is initialised, and a socket
// between both for bytes and descriptors. The child's checks count like the parent's. A side that
// fails closes its end, so the other one's next receive ends its case too.
// Thread rule: one thread a process.
#pragma once
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "conformance/conform.h"

namespace limen::conform {

inline void use_device() {
  REQUIRE(cuInit(0));
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuCtxSetCurrent(context));
}

class Peer {
 public:
  explicit Peer(int socket, pid_t child = 0) : socket_(socket), child_(child) {}

  template <typename T>
  void send(const T& value) {
    if (::send(socket_, &value, sizeof value, MSG_NOSIGNAL) != sizeof value) _exit(3);
  }
  template <typename T>
  T receive() {
    T value;
    if (recv(socket_, &value, sizeof value, 0) != sizeof value) _exit(3);
    return value;
  }
  void send_descriptor(int descriptor) {
    Message message;
    cmsghdr* header = CMSG_FIRSTHDR(&message.header);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket_, &message.header, MSG_NOSIGNAL) != 1) _exit(3);
  }
  int receive_descriptor() {
    Message message;
    if (recvmsg(socket_, &message.header, 0) != 1) _exit(3);
    int descriptor = -1;
    if (cmsghdr* header = CMSG_FIRSTHDR(&message.header))
      std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
  }
  void kill_child() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  /// Waits for the child's end; true when it came to the end of its part.
  bool finished() {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  struct Message {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    Message() {
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof control;
    }
  };
  int socket_;
  pid_t child_;
};

/// Runs `child` in another process, with a context of its own; returns the parent's end. The
/// parent's context is made after the fork.
inline Peer start_child(void (*child)(Peer)) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) skip("no sockets");
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    use_device();
    child(Peer(ends[1]));
    _exit(0);
  }
  close(ends[1]);
  use_device();
  return Peer(ends[0], pid);
}

}  // namespace limen::conform
