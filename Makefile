# Everything runs in .venv, which the first call creates. Start with `make demo` or `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SHELL := /bin/bash

SECONDS ?= 600
SEED ?= 1

.PHONY: demo test test-bounds fuzz lint docs bench guard clean package

.venv/.ready: pyproject.toml constraints.txt
	@echo "Setting up .venv (the first time this takes a minute or two) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "whiffclock needs Python 3.11 or newer; choose one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: .venv/.ready
	@$(BIN)/whiffclock demo

test: .venv/.ready lint
	@command -v chromedriver >/dev/null || echo "No Chromium with its driver: the page of searches is not tested in a browser."
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile

# The kernel tests with every array index checked.
test-bounds: .venv/.ready
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds $(BIN)/python -m pytest tests/test_lockstep.py \
	  tests/test_evaluate.py tests/test_gym.py tests/test_beliefs.py tests/test_bayes.py tests/test_pomdp_kernels.py \
	  tests/test_pomdp_blocks.py tests/test_pomdp_solver.py tests/test_pomdp_runs.py tests/test_simulate.py

# Damaged files and odd options, for some time: make fuzz SECONDS=600 SEED=1
fuzz: .venv/.ready
	@PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) --seed $(SEED)

lint: .venv/.ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

# The documentation site, in build/docs; works without a network.
docs: .venv/.ready
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "The site: build/docs/index.html"

# sdist and wheel in build/package, built twice, checked, installed into an empty environment, and tried there.
package: .venv/.ready
	@$(BIN)/python .ci/package.py

# Half an hour on an idle machine; PROBLEMS are further .pomdp and .pomdpx files.
bench: .venv/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@$(BIN)/python benchmarks/run.py $(PROBLEMS)

# Instructions of the hot loops beside those kept in the repository (needs valgrind).
guard: .venv/.ready
	@$(BIN)/python benchmarks/instructions.py

clean:
	rm -rf .venv demo build docs/made
