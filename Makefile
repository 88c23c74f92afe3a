# The front door. Everything sets itself up: `make demo` and `make test` work on a fresh Debian-like machine.
.DEFAULT_GOAL := help
.PHONY: help setup build dev site test test-full test-arch test-asan test-torch test-lightgbm test-chroot test-coexistence test-tsan fuzz soak demo example bench bench-kernels bench-cluster bench-aggregation format lint tidy wheel clean

help:
	@echo 'make build    set up what the build needs, then build all but the tests: build/lib, .venv, bin/espalier'
	@echo 'make dev      build each file by itself into build/dev, with compile_commands.json for editors and clang-tidy'
	@echo 'make test     build and run every test; ends with one line of totals'
	@echo 'make test-full  the same with the tests that take long: every layout of emulated nodes, every host'
	@echo 'make fuzz     feed the aggregation nodes with garbage for ten minutes (FUZZ_SECONDS=n)'
	@echo 'make soak     random programs under MPICH, Open MPI and Intel MPI for two hours, compared with the host; goes on where it was (ARGS="--seconds 600")'
	@echo 'make test-arch  build the core for aarch64 and ppc64le, and run its unit tests under qemu-user'
	@echo 'make test-asan  the unit tests and, under each host, the MPI tests with AddressSanitizer and UBSan (ASAN_TESTS="tree plan", ASAN_HOSTS="mpich others" for some)'
	@echo 'make test-tsan  unit tests with threads (ranks that are threads, the C API) and MPI tests of threads with ThreadSanitizer (TSAN_TESTS="capi" for some)'
	@echo 'make test-coexistence  as root: install debuggers, tracers, profilers and allocators, and run jobs beside each (docs/coexistence.md)'
	@echo 'make test-torch  the tests of the PyTorch backend, with a torch for CPUs in .venv/torch, or by the Python that ESPALIER_TORCH_PYTHON names'
	@echo 'make test-lightgbm  the test of LightGBM over Espalier, by the Python with lightgbm that ESPALIER_LIGHTGBM_PYTHON names'
	@echo 'make test-chroot  as root: pip install, run and uninstall in fresh Debians without a compiler (debootstrap; docs/contributing.md)'
	@echo 'make demo     build and compare Espalier with MPICH: a table, and an HTML page with plots'
	@echo 'make example  build and run real programs (examples/, programs of Debian packages if installed) with and without Espalier'
	@echo 'make bench    build and measure Espalier against MPICH, Open MPI and Intel MPI'
	@echo 'make bench-kernels  build and measure copies, reductions and flags beside memcpy'
	@echo 'make bench-cluster  as root: build and measure across emulated nodes (docs/cluster.md)'
	@echo 'make bench-aggregation  as root: build and measure aggregation nodes beside messages (docs/sharp.md)'
	@echo 'make site     build the documentation as a site: build/site/index.html'
	@echo 'make setup    only set up: system packages (as root), environments in .venv'
	@echo 'make format   clang-format on all C++ files'
	@echo 'make lint     clang-format, ruff and mypy look for what is left to do: a part of make test'
	@echo 'make tidy     clang-tidy over src, simulation and sharp: ten minutes on two cores; ARGS=--changed or ARGS=src/tree for a part'
	@echo 'make wheel    the wheel for machines with glibc 2.28 or later, in build/wheel (docs/install.md)'
	@echo 'make clean    remove build/ (the environments in .venv stay)'
	@echo
	@echo 'Settings: PYTHON=/path/to/python3   JOBS=n   SKIP_SYSTEM=1 (look at no system package)   ARGS="..." (make soak, make example, make bench, make bench-kernels, make bench-cluster, make tidy)'

export PYTHON JOBS SKIP_SYSTEM
# A recipe's line that has MAKE itself is run by `make -n`, too.
this_make := $(MAKE)

setup:
	@tools/setup/setup test

build:
	@tools/setup/setup build tools/setup/build product-layers
	@tools/setup/build product

dev:
	@tools/setup/setup build
	@cmake --preset dev
	@cmake --build --preset dev
	@ln -sfn build/dev/compile_commands.json compile_commands.json

test:
	@tools/setup/setup test tools/setup/build layers
	@# Most of lint is mypy, on one core: it runs beside the build, and what it says comes when both have ended.
	@$(this_make) --no-print-directory lint > build/log/lint.txt 2>&1 & tools/setup/build; failed=$$?; \
	  wait $$! || { cat build/log/lint.txt; failed=1; }; exit $$failed
	@.venv/command/bin/python tools/test.py

test-full: export ESPALIER_TEST_FULL = 1
test-full: test

site: build
	@tools/setup/setup site
	@NO_MKDOCS_2_WARNING=1 .venv/site/bin/mkdocs build --quiet --strict
	@echo build/site/index.html

fuzz:
	@tools/setup/setup fuzz
	@tests/fuzz/run

soak: build
	@PYTHONPATH=python:tools .venv/command/bin/python -m soak $(ARGS)

test-arch:
	@tools/setup/setup arch
	@tools/test_arch/run $(ARGS)

test-asan: build
	@failed=0; tests/run_asan || failed=1; tests/mpi/run_asan $(ARGS) || failed=1; exit $$failed

test-tsan: build
	@failed=0; tests/run_tsan || failed=1; tests/mpi/run_tsan $(ARGS) || failed=1; exit $$failed

test-coexistence: build
	@tools/setup/setup test
	@tools/setup/setup coexistence
	@ESPALIER_TEST_COEXISTENCE=1 ESPALIER_TEST_FULL=1 PYTHONPATH=python .venv/command/bin/python -m pytest -n0 -v -rs tests/mpi/test_coexistence.py $(ARGS)

test-torch: build
	@test -n "$$ESPALIER_TORCH_PYTHON" || tools/setup/setup torch
	@PYTHONPATH=python .venv/command/bin/python -m pytest -q -n0 tests/torch $(ARGS)

test-lightgbm: build
	@.venv/command/bin/python -m pytest -q -n0 tests/lightgbm $(ARGS)

test-chroot: build
	@tools/setup/setup chroot
	@ESPALIER_TEST_FULL=1 PYTHONPATH=python .venv/command/bin/python -m pytest -n0 -v -rs tests/install/test_chroot.py $(ARGS)

demo:
	@tools/setup/setup build tools/setup/build demo-layers
	@tools/setup/build demo
	@bin/espalier demo

example: build
	@.venv/command/bin/python tools/real_programs.py $(ARGS)

bench: build
	@bin/espalier bench --goals $(ARGS)
	@$(if $(ARGS),,bin/espalier bench --setup)

bench-kernels: build
	@cmake --build build --target bench_kernels
	@build/bin/bench_kernels --benchmark_counters_tabular=true $(ARGS)

bench-aggregation: build
	@.venv/command/bin/python bench/aggregation $(ARGS)

bench-cluster: build
	@.venv/command/bin/python bench/cluster $(ARGS)

lint:
	@tools/setup/setup format
	@.venv/format/bin/ruff check -q --config pyproject.toml python src/mpi/bindings/generate
	@.venv/format/bin/mypy --no-error-summary --config-file pyproject.toml python/espalier
	@.venv/format/bin/mypy --no-error-summary --config-file pyproject.toml src/mpi/bindings/generate
	@git ls-files '*.[ch]pp' | xargs .venv/format/bin/clang-format --dry-run -Werror

tidy:
	@tools/setup/setup format
	@tools/setup/setup build
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev --target espalier_mpi_functions  # what the sources of the interposer include
	@.venv/format/bin/python tools/tidy.py --clang-tidy .venv/format/bin/clang-tidy $(addprefix -j,$(JOBS)) $(ARGS)

format:
	@tools/setup/setup format
	@git ls-files '*.[ch]pp' | xargs .venv/format/bin/clang-format -i

wheel: build
	@packaging/wheel/make

clean:
	rm -rf build
