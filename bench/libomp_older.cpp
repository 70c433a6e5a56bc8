// What clang++ 19 calls at the end of loops with dynamic schedules and libomp before 19 does not have
// (Debian 12's libomp-dev is 14). There the last __kmpc_dispatch_next frees what the loop held, so
// nothing is left to do. Linked only with such a libomp; see find_libomp in bench/peers.py.
extern "C" void __kmpc_dispatch_deinit(void*, int) {}
