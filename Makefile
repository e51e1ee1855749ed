# Everything a fresh clone needs besides Python, make and a C++ compiler is put into .venv; see `make help`.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
ifeq ($(origin CXX),default)
CXX := $(firstword $(foreach name,c++ g++ clang++,$(shell command -v $(name) 2>/dev/null)) c++)
endif
export CXX

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CORE := $(filter-out core/tests/%,$(wildcard core/*/*.hpp core/*/*.cpp))
CORE_FILES := $(wildcard core/*/*.hpp core/*/*.cpp core/tests/*/*.hpp core/tests/*/*.cpp)

.DELETE_ON_ERROR:
.PHONY: help demo test test-lowest test-pythons build lint format pytest core-test thread-test fuzz sanitize bench clean

help:
	@echo 'make demo     learn to read Python code, and show what was learnt (under a minute, the build aside)'
	@echo 'make test     everything that must pass: lint, types, the test-suite, the core under sanitisers'
	@echo 'make build    build the package and install it into $(VENV)'
	@echo 'make lint     ruff and mypy only'
	@echo 'make format   put the code into shape with ruff'
	@echo 'make fuzz     give it damaged input for some minutes: make fuzz MINUTES=5 SEED=1 TARGETS=models,core'
	@echo 'make sanitize run the tests of the core under the address, undefined-behaviour and thread sanitisers'
	@echo 'make bench    compare speed with other tools'
	@echo 'make clean    remove all environments (.venv*) and everything that was built'
	@echo
	@echo 'make test-lowest    the test-suite with the lowest versions that pyproject.toml allows, in $(LOWEST)'
	@echo 'make test-pythons   the test-suite with several Pythons, each in its own environment:'
	@echo '                    make test-pythons PYTHONS="python3.12 python3.13"'
	@echo
	@echo 'Choose the interpreter and the compiler with make PYTHON=python3.12 VENV=.venv-3.12 CXX=clang++ …'

demo: $(VENV)/.built
	@$(BIN)/python -m parsimon.demo

build: $(VENV)/.built

test: lint pytest core-test

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	@! test -x $(BIN)/clang-format || $(BIN)/clang-format --dry-run --Werror $(CORE_FILES)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	@! test -x $(BIN)/clang-format || $(BIN)/clang-format -i $(CORE_FILES)

pytest: $(VENV)/.dev
	$(BIN)/pytest -n $(WORKERS)

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

# Bounded and seeded; TARGETS names some of tests/fuzz/targets with commas between, nothing means all.
MINUTES ?= 5
SEED ?= 0
TARGETS ?=

fuzz: $(VENV)/.fuzz
	PYTHONPATH=tests:tests/cli $(BIN)/python -W ignore -m fuzz --minutes $(MINUTES) --seed $(SEED) --targets '$(TARGETS)'

clean:
	rm -rf $(VENV) .venv .venv-* build dist demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- What is needed, said in one sentence when it is missing -------------------------------------------------------

define check_python
@command -v $(PYTHON) >/dev/null || { echo "Parsimon needs Python 3.11 or newer, but there is no $(PYTHON):\
 install it (apt-get install python3 python3-venv python3-dev) or name another (make PYTHON=…)." >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Parsimon needs Python 3.11 or newer,\
 but $(PYTHON) is $$($(PYTHON) -V 2>&1): install a newer one or name another (make PYTHON=python3.12)." >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments:\
 install its venv module (apt-get install python3-venv)." >&2; exit 1; }
@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
 || { echo "The C headers of $(PYTHON) are missing: install them (apt-get install python3-dev)." >&2; exit 1; }
endef

define check_compiler
@command -v $(firstword $(CXX)) >/dev/null || { echo "Parsimon needs a C++20 compiler, but there is no $(CXX):\
 install one (apt-get install g++) or name yours (make CXX=…)." >&2; exit 1; }
@printf '#include <bit>\nint main() { return std::bit_cast<int>(1.0f); }\n' | $(CXX) -std=c++20 -x c++ -fsyntax-only - \
 2>/dev/null || { echo "Parsimon needs a C++20 compiler, but $(CXX) is not one: install a newer one, such as GCC 11\
 (apt-get install g++), or name another (make CXX=…)." >&2; exit 1; }
endef

# --- The environment; stamps say what is up to date ----------------------------------------------------------------

$(VENV)/.made:
	$(check_python)
	$(check_compiler)
	@echo 'Making $(VENV) …'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

define print_build_requirements
import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'],\
    'cmake>=3.21', 'ninja>=1.11', sep='\n')
endef

# What builds the package, from pyproject.toml. It stays in the environment, so that building again is quick.
$(VENV)/.tools: pyproject.toml | $(VENV)/.made
	@$(BIN)/python -c "$(print_build_requirements)" > $(VENV)/build-requirements.txt
	@$(PIP) --requirement $(VENV)/build-requirements.txt
	@touch $@

# Editable: Python sources are used where they are, only the core is compiled. Each environment has its own build.
$(VENV)/.built: $(VENV)/.tools pyproject.toml CMakeLists.txt $(CORE)
	$(check_compiler)
	@echo 'Building and installing Parsimon …'
	@PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation --config-settings build-dir=build/$(patsubst .%,%,$(notdir $(VENV))) \
	    --editable .
	@touch $@

# Parsimon itself is there by now; only what its extras name is installed.
$(VENV)/.dev: pyproject.toml | $(VENV)/.built
	@echo 'Installing what tests and checks need …'
	@$(PIP) 'parsimon[dev]'
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/.built
	@$(PIP) 'parsimon[benchmark]'
	@touch $@

# Atheris, which finds inputs that reach new code, is not there for every system; attacks go without it.
$(VENV)/.fuzz: pyproject.toml | $(VENV)/.dev
	@$(PIP) 'parsimon[fuzz]' || echo 'Atheris cannot be installed here; inputs are not guided by what they reach.'
	@touch $@

# The core changed after the last installation: build it again before anything runs.
lint format pytest bench fuzz sanitize: $(VENV)/.built

# --- The lowest versions that are allowed, and other Pythons --------------------------------------------------------

# uv is installed there to choose the versions: pip always takes the newest.
LOWEST := .venv-lowest
INSTALL_LOWEST := $(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct

test-lowest: $(LOWEST)/.dev
	PARSIMON_LOWEST=1 $(LOWEST)/bin/pytest -n $(WORKERS)

$(LOWEST)/.dev: pyproject.toml CMakeLists.txt $(CORE)
	$(check_python)
	$(check_compiler)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "The lowest versions are those for\
 Python 3.11, but $(PYTHON) is $$($(PYTHON) -V 2>&1): name one (make test-lowest PYTHON=python3.11)." >&2; exit 1; }
	@echo 'Making $(LOWEST), with the lowest versions that pyproject.toml allows …'
	@rm -rf $(LOWEST)
	@$(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(LOWEST)/bin/python -c "$(print_build_requirements)" > $(LOWEST)/build-requirements.txt
	@$(INSTALL_LOWEST) --requirement $(LOWEST)/build-requirements.txt
	@$(INSTALL_LOWEST) --requirement pyproject.toml --extra test --extra sentencex
	@PATH="$(abspath $(LOWEST))/bin:$$PATH" $(INSTALL_LOWEST) --no-deps --no-build-isolation \
	    --config-setting build-dir=build/$(LOWEST:.%=%) --editable .
	@touch $@

PYTHONS ?= python3.11 python3.12 python3.13

# The environment is named after the version; that of free-threaded Python is .venv-3.13t.
test-pythons:
	@for python in $(PYTHONS); do \
	    name=$$($$python -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]}{sys.abiflags}")') \
	        || { echo "There is no $$python: install it, or leave it out of PYTHONS." >&2; exit 1; }; \
	    echo "$$python: .venv-$$name"; \
	    $(MAKE) --no-print-directory pytest PYTHON=$$python VENV=.venv-$$name || exit 1; \
	done

# --- The core's own tests, under the address and undefined-behaviour sanitisers ------------------------------------

SANITIZER ?= address,undefined
CORE_TESTS := build/core-tests$(if $(filter thread,$(SANITIZER)),-threads)
CORE_FLAGS := -std=c++20 -Icore -O0 -g1 -Wall -Wextra -Wno-psabi -fno-math-errno -fno-trapping-math -pthread \
    -fsanitize=$(SANITIZER) -fno-sanitize-recover=all -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
CORE_SOURCES := core/kernels/kernels.cpp $(wildcard core/tests/*.cpp core/tests/*/*.cpp)
CORE_OBJECTS := $(CORE_SOURCES:core/%.cpp=$(CORE_TESTS)/%.o)

core-test:
	$(check_compiler)
	@$(MAKE) --no-print-directory -j $(WORKERS) $(CORE_TESTS)/run
	$(CORE_TESTS)/run

$(CORE_TESTS)/run: $(CORE_OBJECTS)
	@$(CXX) $(CORE_FLAGS) $^ -o $@

$(CORE_TESTS)/%.o: core/%.cpp Makefile
	@mkdir -p $(@D)
	@$(CXX) $(CORE_FLAGS) -MMD -c $< -o $@

-include $(CORE_OBJECTS:.o=.d)

# --- The tests in Python of what is compiled, with sanitisers in the core ------------------------------------------

SANITIZED := build/sanitized
SANITIZE_FLAGS := -O1 -g1 -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all \
    -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
SANITIZE_TESTS ?= tests/test_core_borders.py tests/structures tests/designs tests/problem tests/features \
    $(addprefix tests/solvers/test_,admm.py block_coordinate_descent.py margin_program.py online.py online_arcs.py \
    online_groups.py proximal_newton.py sgd_l1.py)
SANITIZE_INPUTS ?= 20000

sanitize: $(VENV)/.dev thread-test
	@mkdir -p build
	@PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_BUILD_TYPE=None \
	    -DPython_EXECUTABLE="$(abspath $(BIN))/python" -DCMAKE_CXX_FLAGS="$(SANITIZE_FLAGS)" \
	    -DKERNEL_OPTIMISATION=-O1 > $(SANITIZED)-cmake.log
	@PATH="$(abspath $(BIN)):$$PATH" cmake --build $(SANITIZED)
	tests/sanitized.sh '$(CXX)' $(SANITIZED) $(BIN)/python -m pytest -p other_core -n $(WORKERS) -q $(SANITIZE_TESTS)
	tests/sanitized.sh '$(CXX)' $(SANITIZED) $(BIN)/python -W ignore -m fuzz --targets core --memory 0 \
	    --inputs $(SANITIZE_INPUTS) --minutes 60 --no-guided --out $(SANITIZED)-fuzz

# The core's own tests once more, under the thread sanitiser.
thread-test:
	@$(MAKE) --no-print-directory core-test SANITIZER=thread
