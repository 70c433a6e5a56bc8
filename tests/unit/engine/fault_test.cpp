// Faults: machine faults and reported ones, recovery, what is claimed and what is passed on.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support.h"

namespace limen::engine::test {
namespace {

// ThreadSanitizer's shadow call stack does not survive landings, so these tests are not for it.
class FaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (under_tsan)
      GTEST_SKIP() << "the shadow stack of TSan does not survive recovery from a fault";
  }
};

__attribute__((noinline, no_sanitize("address", "undefined"))) void store(volatile int* at) {
  *at = 1;
}

__attribute__((noinline, no_sanitize("undefined"))) int recurse(volatile int* depth) {
  volatile char frame[600];
  frame[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return recurse(depth) + frame[0];
}

void store_to_null(BlockContext* context) {
  if (linear_block(context) == 3) store(reinterpret_cast<volatile int*>(8));
}

TEST_F(FaultTest, NullPointerInRegionKernel) {
  Pool pool({.threads = 2});
  for (int i = 0; i < 200; ++i) {
    const FaultInfo info = run(pool, make_spec(region_code(store_to_null, "bad"), 10, 32));
    EXPECT_EQ(info.kind, Fault::illegal_address);
    EXPECT_EQ(info.address, 8u);
    EXPECT_EQ(info.ctaid[0], 3u);
    EXPECT_NE(info.message.find("kernel bad: illegal memory address 0x8"), std::string::npos)
        << info.message;
    EXPECT_NE(info.message.find("block (3,0,0)"), std::string::npos) << info.message;
  }
  EXPECT_EQ(run(pool, make_spec(region_code([](BlockContext*) {}), 10, 32)).kind, Fault::none);
}

TEST_F(FaultTest, RestOfTheGridIsCancelled) {
  Pool pool({.threads = 1});
  std::atomic<int> ran{0};
  auto code = region_code([](BlockContext* context) {
    (*parameter<std::atomic<int>>(context))++;
    if (linear_block(context) == 5) store(reinterpret_cast<volatile int*>(16));
  });
  const FaultInfo info = run(pool, make_spec(code, 100000, 32, &ran));
  EXPECT_EQ(info.kind, Fault::illegal_address);
  EXPECT_EQ(ran, 6);
}

TEST_F(FaultTest, NonCanonicalAddressAndIllegalInstruction) {
  Pool pool({.threads = 1});
  auto wild = region_code(
      [](BlockContext*) { store(reinterpret_cast<volatile int*>(uint64_t{0x1234567890abcdef})); });
  EXPECT_EQ(run(pool, make_spec(wild, 1, 32)).kind, Fault::illegal_address);
  // x86-64's ud2, AArch64's brk.
  auto trap = region_code([](BlockContext*) { __builtin_trap(); });
  EXPECT_EQ(run(pool, make_spec(trap, 1, 32)).kind, Fault::illegal_instruction);
#if defined(__aarch64__)
  auto illegal = region_code([](BlockContext*) { asm volatile("udf #0"); });
  EXPECT_EQ(run(pool, make_spec(illegal, 1, 32)).kind, Fault::illegal_instruction);
#else  // there a division by zero is 0
  auto divide = region_code([](BlockContext*) {
    asm volatile("xorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\tcltd\n\tidivl %%ecx" ::
                     : "eax", "ecx", "edx");
  });
  EXPECT_EQ(run(pool, make_spec(divide, 1, 32)).kind, Fault::trap);
#endif
}

TEST_F(FaultTest, OverrunOfSharedMemoryHitsTheGuard) {
  Pool pool({.threads = 1});
  auto code = region_code([](BlockContext* context) {
    store(reinterpret_cast<volatile int*>(context->shared + 1024 - 4));
    store(reinterpret_cast<volatile int*>(context->shared + 1024));
  });
  code->meta.static_shared_bytes = 1024;
  EXPECT_EQ(run(pool, make_spec(code, 1, 32)).kind, Fault::illegal_address);
}

TEST_F(FaultTest, RecursionOverflowsTheStack) {
  Pool pool({.threads = 1});
  for (int i = 0; i < 3; ++i) {
    volatile int depth = 0;
    auto code =
        region_code([](BlockContext* context) { recurse(parameter<volatile int>(context)); });
    const FaultInfo info = run(pool, make_spec(code, 1, 32, const_cast<int*>(&depth)));
    EXPECT_EQ(info.kind, Fault::stack_overflow) << info.message;
    EXPECT_GT(depth, under_asan ? 2000 : 8000);
  }
}

TEST_F(FaultTest, RecursionOverflowsAFibersStack) {
  Pool pool({.threads = 1});
  for (int i = 0; i < 3; ++i) {
    volatile int depth = 0;
    auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
      if (warp->warp == 1) recurse(parameter<volatile int>(context));
      context->launch->runtime->barrier(context, warp, 0, 0, 32, 0, 0);
    });
    const FaultInfo info = run(pool, make_spec(code, 1, 128, const_cast<int*>(&depth)));
    EXPECT_EQ(info.kind, Fault::stack_overflow) << info.message;
    EXPECT_GT(depth, 100);
  }
}

TEST_F(FaultTest, ServicesNeedRoomOnTheStack) {
  Pool pool({.threads = 1});
  auto code = fiber_code([](BlockContext* context, WarpContext*) {
    // All but about 8 KiB of the fiber's 64 KiB are gone when printf is called.
    volatile char* frame = static_cast<volatile char*>(__builtin_alloca(54 * 1024));
    frame[0] = 1;
    context->launch->runtime->vprintf(context, reinterpret_cast<uint64_t>("x"), 0);
  });
  Pool small({.threads = 1, .fiber_stack_bytes = 64 * 1024});
  EXPECT_EQ(run(small, make_spec(code, 1, 32)).kind, Fault::stack_overflow);
  EXPECT_EQ(run(pool, make_spec(code, 1, 32)).kind, Fault::none);
}

TEST_F(FaultTest, AFibersStackHoldsTheFrameThatTheCompilerTold) {
  Pool small({.threads = 1, .fiber_stack_bytes = 64 * 1024});
  for (const uint32_t frame : {300u * 1024, 4u << 20, 100u * 1024}) {
    auto code = fiber_code([](BlockContext* context, WarpContext*) {
      const size_t bytes = *parameter<size_t>(context);
      volatile char* memory = static_cast<volatile char*>(__builtin_alloca(bytes));
      for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
      context->launch->runtime->vprintf(context, reinterpret_cast<uint64_t>(""), 0);
    });
    code->meta.native_frame_bytes = frame;
    size_t bytes = frame;
    const FaultInfo info = run(small, make_spec(code, 2, 64, &bytes));
    EXPECT_EQ(info.kind, Fault::none) << info.message;
  }
}

TEST_F(FaultTest, FaultInAFiberDropsTheBlock) {
  Pool pool({.threads = 2});
  auto code = fiber_code([](BlockContext* context, WarpContext* warp) {
    const kernel::Runtime* runtime = context->launch->runtime;
    for (int i = 0; i < 100; ++i) {
      runtime->barrier(context, warp, 0, 0, 32, 0, 0);
      if (i == 50 && warp->warp == 2) store(reinterpret_cast<volatile int*>(64));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const FaultInfo info = run(pool, make_spec(code, 8, 256));
    EXPECT_EQ(info.kind, Fault::illegal_address);
    EXPECT_NE(info.message.find("warp 2"), std::string::npos) << info.message;
  }
}

TEST_F(FaultTest, LaneFaultKnowsItsThread) {
  Pool pool({.threads = 1});
  auto code = lane_code([](BlockContext*, WarpContext* warp) {
    if (warp->warp == 1 && warp->lane == 5) store(reinterpret_cast<volatile int*>(64));
  });
  auto spec = make_spec(code, 1, 16);
  spec->block[1] = 4;
  const FaultInfo info = run(pool, std::move(spec));
  EXPECT_EQ(info.kind, Fault::illegal_address);
  ASSERT_TRUE(info.thread_known);
  EXPECT_EQ(info.thread[0], 5u);
  EXPECT_EQ(info.thread[1], 2u);
}

TEST_F(FaultTest, RuntimeFaultCarriesThreadAndLine) {
  Pool pool({.threads = 1});
  auto code = region_code([](BlockContext* context) {
    context->launch->runtime->fault(context, static_cast<uint32_t>(Fault::misaligned_address), 1, 3,
                                    77, 0x1001);
  });
  const FaultInfo info = run(pool, make_spec(code, 1, 64));
  EXPECT_EQ(info.kind, Fault::misaligned_address);
  EXPECT_EQ(info.line, 77u);
  EXPECT_EQ(info.address, 0x1001u);
  ASSERT_TRUE(info.thread_known);
  EXPECT_EQ(info.thread[0], 35u);  // warps of 32 lanes, whatever the code
  EXPECT_NE(info.message.find("misaligned address 0x1001"), std::string::npos);
  EXPECT_NE(info.message.find("PTX line 77"), std::string::npos);
}

TEST_F(FaultTest, AssertFailPrintsCudasText) {
  Pool pool({.threads = 1});
  auto code = region_code([](BlockContext* context) {
    context->launch->runtime->assertfail(context, 17, reinterpret_cast<uint64_t>("a < b"),
                                         reinterpret_cast<uint64_t>("file.cu"), 42,
                                         reinterpret_cast<uint64_t>("void f(int)"), 1);
  });
  testing::internal::CaptureStderr();
  auto spec = make_spec(code, 1, 8);
  spec->block[1] = 4;
  const FaultInfo info = run(pool, std::move(spec));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "file.cu:42: void f(int): block: [0,0,0], thread: [1,2,0] Assertion `a < b` failed.\n");
  EXPECT_EQ(info.kind, Fault::assert_failed);
}

TEST_F(FaultTest, WildStringInPrintfIsTheKernelsFault) {
  Pool pool({.threads = 1});
  auto code = region_code([](BlockContext* context) {
    const uint64_t args[] = {24};
    context->launch->runtime->vprintf(context, reinterpret_cast<uint64_t>("hello %s\n"),
                                      reinterpret_cast<uint64_t>(args));
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(run(pool, make_spec(code, 4, 8)).kind, Fault::illegal_address);
}

TEST_F(FaultTest, BadFreeIsAFault) {
  Pool pool({.threads = 1});
  auto code = region_code([](BlockContext* context) {
    const kernel::Runtime* runtime = context->launch->runtime;
    const uint64_t memory = runtime->malloc(context, 100);
    runtime->free(context, 0);
    runtime->free(context, memory);
    runtime->free(context, memory + 1);
  });
  auto spec = make_spec(code, 1, 8);
  spec->device_malloc = [](uint64_t bytes) { return bytes == 100 ? uint64_t{4096} : 0; };
  spec->device_free = [](uint64_t address) { return address == 4096; };
  const FaultInfo info = run(pool, std::move(spec));
  EXPECT_EQ(info.kind, Fault::trap);
  EXPECT_EQ(info.address, 4097u);
}

// ---- What is not ours --------------------------------------------------------------------------

sigjmp_buf host_jump;
std::atomic<int> host_signals{0};
std::atomic<uint64_t> host_address{0};

void host_handler(int, siginfo_t* info, void*) {
  ++host_signals;
  host_address = reinterpret_cast<uint64_t>(info->si_addr);
  siglongjmp(host_jump, 1);
}

bool host_faults() {
  if (sigsetjmp(host_jump, 1) != 0) return true;
  store(reinterpret_cast<volatile int*>(32));
  return false;
}

TEST_F(FaultTest, HostHandlerInstalledBeforeAndAfterGetsItsOwnFaults) {
  struct sigaction action{}, before;
  action.sa_sigaction = host_handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  host_signals = 0;
  {
    Pool pool({.threads = 1});
    EXPECT_EQ(run(pool, make_spec(region_code(store_to_null), 10, 32)).kind,
              Fault::illegal_address);
    EXPECT_EQ(host_signals, 0);
    EXPECT_TRUE(host_faults());  // through ours to the host's
    EXPECT_EQ(host_signals, 1);
    EXPECT_EQ(host_address, 32u);
    // The host puts its handler in front; the next launch puts ours there again.
    for (int i = 0; i < 20; ++i) {
      sigaction(SIGSEGV, &action, nullptr);
      EXPECT_EQ(run(pool, make_spec(region_code(store_to_null), 10, 32)).kind,
                Fault::illegal_address);
      EXPECT_EQ(host_signals, 1 + i);
      EXPECT_TRUE(host_faults());
      EXPECT_EQ(host_signals, 2 + i);
    }
  }
  sigaction(SIGSEGV, &before, nullptr);
}

struct sigaction chained_previous;
void chaining_handler(int signal, siginfo_t* info, void* context) {
  ++host_signals;
  chained_previous.sa_sigaction(signal, info, context);
}

TEST_F(FaultTest, HostHandlerThatCallsThePreviousOneDoesNotLoop) {
  struct sigaction first{}, before;
  first.sa_sigaction = host_handler;
  first.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &first, &before);
  host_signals = 0;
  {
    Pool pool({.threads = 1});
    run(pool, make_spec(region_code(store_to_null), 10, 32));
    struct sigaction second{};
    second.sa_sigaction = chaining_handler;
    second.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &second, &chained_previous);
    EXPECT_EQ(run(pool, make_spec(region_code(store_to_null), 10, 32)).kind,
              Fault::illegal_address);
    EXPECT_TRUE(host_faults());
    EXPECT_EQ(host_signals, 2);  // the chaining one, then the first
  }
  sigaction(SIGSEGV, &before, nullptr);
}

using FaultDeathTest = FaultTest;

TEST_F(FaultDeathTest, HostFaultWithoutHandlerStillKills) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        Pool pool({.threads = 1});
        run(pool, make_spec(region_code(store_to_null), 10, 32));
        store(reinterpret_cast<volatile int*>(32));
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(FaultDeathTest, SentSignalIsNotClaimedEvenInAKernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        Pool pool({.threads = 1});
        run(pool, make_spec(region_code([](BlockContext*) { raise(SIGSEGV); }), 1, 32));
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(FaultDeathTest, FaultInADriverCallbackIsNotTheKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        Pool pool({.threads = 1});
        auto spec = make_spec(region_code([](BlockContext* context) {
                                context->launch->runtime->malloc(context, 1);
                              }),
                              1, 32);
        spec->device_malloc = [](uint64_t) -> uint64_t {
          store(reinterpret_cast<volatile int*>(32));
          return 0;
        };
        run(pool, std::move(spec));
      },
      testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace limen::engine::test
