# `make demo` shows tfprof at work, `make test` checks a change in minutes, `make test-all` checks
# everything, for releases. Each makes the environment it needs from the project's own files.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= auto
RUNS ?= 200000
# Node from PyPI runs ESLint and TypeScript from npm.
NODE = $(BIN)/python tests/support/tools/node.py
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile
# Tests start Python many times; without bytecode, each start compiles tfprof anew.
unexport PYTHONDONTWRITEBYTECODE

# What `make test` leaves out, in as many parts; CI tries the one that the commit chooses.
SLICES := 1 2 3 4 5 6 7 8
SLICE ?= commit

.PHONY: demo test test-slice test-all lint types bench growth fuzz fuzz-kernels schema clean

# --- for users ---------------------------------------------------------------------------------

demo: $(VENV)/.installed  ## install tfprof and profile the bundled ResNet
	@$(BIN)/tfprof demo

$(VENV)/.installed: pyproject.toml hatch_build.py src/tfprof/kernels/_core.c
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@touch $@

# --- for developers ----------------------------------------------------------------------------

test: lint types  ## lint, types and the tests of every day
	$(PYTEST) $(ARGS)

test-slice: $(VENV)/.installed-slices  ## of what `make test` leaves out, SLICE=3, or what the commit chooses
	$(PYTEST) --slice=$(SLICE) $(ARGS)

test-all: test $(VENV)/.installed-slices  ## everything: every day, then all slices one after another, and growth
	for slice in $(SLICES); do $(PYTEST) --slice=$$slice $(ARGS) || exit; done
	$(BIN)/python bench/growth.py

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(NODE) eslint --config tests/javascript/eslint.config.js src/tfprof/page tests/javascript

types: $(VENV)/.installed-test
	$(BIN)/mypy
	$(NODE) tsc -p tests/javascript

$(VENV)/.installed-test: pyproject.toml hatch_build.py src/tfprof/kernels/_core.c tests/javascript/package-lock.json
	@echo "Setting up $(VENV) for tests: 0.75 GB of PyPI's packages, 300 MB of them TensorFlow."
	@echo "What tests drive besides is named as it is downloaded. Once, and some minutes."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e '.[test]'
	@# It asks for the package tensorflow, which tensorflow-cpu stands for here.
	@$(PIP) --no-deps 'tf-keras==2.21.*'
	@$(BIN)/python tests/support/tools/install.py
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-slices: $(VENV)/.installed-test
	@echo "Adding what only slices need, JAX and an S3 server: 0.2 GB of PyPI's packages."
	@$(PIP) -e '.[test-slices]'
	@touch $@

bench: $(VENV)/.installed-test  ## time us and the original in one run; BENCH_FULL=1: 1M nodes, too
	$(BIN)/python bench/run.py $(if $(BENCH_FULL),--full) $(ARGS)

growth: $(VENV)/.installed-test  ## what takes more than its share when inputs of the worst shapes grow
	$(BIN)/python bench/growth.py $(ARGS)

fuzz: $(VENV)/.installed-test  ## hostile bytes for every reader; RUNS=1000 ARGS="graph run" is shorter
	$(BIN)/python -m fuzz.run --runs $(RUNS) $(ARGS)

fuzz-kernels: $(VENV)/.installed-test  ## the compiled kernels under sanitizers: 2 million executions
	$(BIN)/python -m fuzz.kernels $(ARGS)

schema: $(VENV)/.installed-test  ## rebuild the descriptor set from the .proto files
	$(BIN)/python -m tfprof.wire.schema.build

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/javascript/node_modules
