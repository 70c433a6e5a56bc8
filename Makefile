# Thin front of CMake: each target says what it runs. The build itself is in CMakeLists.txt and
# CMakePresets.json; what a test or a benchmark does is in its own folder.
JOBS ?= $(shell nproc)
# Tests run two at a time: many start the engine's own worker threads.
TEST_JOBS ?= 2
CTEST_ARGS ?=
PRESETS := dev release checked asan ubsan tsan fuzz

.PHONY: all setup configure build demo test bench acceptance soak fuzz tidy clean help $(PRESETS)

all: build

help:
	@echo "make              build into build/ (installs missing Debian packages first)"
	@echo "make demo         build, render the demo's pictures with a CUDA program on the CPU device"
	@echo "make test         build, run the tests (CTEST_ARGS='-R name' picks some)"
	@echo "make bench        CUDA on Limen against OpenMP and OpenCL, docs/bench/latest.md"
	@echo "make acceptance   public CUDA programs, unmodified (long; needs nvcc)"
	@echo "make soak         random and threaded tests again and again for SOAK_SECONDS (600)"
	@echo "make fuzz         every fuzzer for FUZZ_SECONDS (default 60) each"
	@echo "make PRESET       configure and build another preset: $(PRESETS)"

setup:
	@scripts/setup build

configure: setup
	@test -f build/build.ninja || cmake --preset release

build: configure
	@cmake --build build -j $(JOBS)

demo: build
	@demo/run build

test: build
	@cd build && ctest --output-on-failure -j $(TEST_JOBS) $(CTEST_ARGS)

bench: build
	@scripts/setup build bench
	@python3 bench/run.py --build build

# The programs are not in this tree: ACCEPTANCE_LIST is the list of them (open_programs.json),
# ACCEPTANCE_SOURCE the folder of their checkouts (tests/acceptance/run_open_programs.py says how).
ACCEPTANCE_LIST ?=
ACCEPTANCE_SOURCE ?=
acceptance: build
	@test -n "$(ACCEPTANCE_LIST)" -a -n "$(ACCEPTANCE_SOURCE)" || { \
	  echo "usage: make acceptance ACCEPTANCE_LIST=open_programs.json ACCEPTANCE_SOURCE=FOLDER"; exit 2; }
	@python3 tests/acceptance/run_open_programs.py --programs $(ACCEPTANCE_LIST) \
	  --source $(ACCEPTANCE_SOURCE) --build build/acceptance --limen build/bin/limen \
	  --out build/acceptance

soak: build
	@tests/soak/run build

fuzz:
	@scripts/setup build dev
	@fuzz/run

tidy:
	@python3 tests/tidy/tidy_test.py

$(filter-out fuzz release,$(PRESETS)): setup
	@cmake --preset $@ && cmake --build --preset $@ -j $(JOBS)

release: build

clean:
	rm -rf build
