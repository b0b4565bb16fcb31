# Everything runs in .venv, which the first call makes. `make demo` and `make test` are all one needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SHELL := /bin/bash

.PHONY: demo test test-bounds lint bench clean

.venv/.ready: pyproject.toml constraints.txt
	@echo "Setting up .venv (the first time this takes a minute or two) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "whiffclock needs Python 3.11 or newer; name one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: .venv/.ready
	@$(BIN)/whiffclock reproduce --profile quick --out demo

test: .venv/.ready lint
	@$(BIN)/python -m pytest

# The same tests with every index of a compiled kernel checked, in a cache of its own.
test-bounds: .venv/.ready
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds $(BIN)/python -m pytest $(TESTS)

lint: .venv/.ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: .venv/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@$(BIN)/python benchmarks/qlearning.py
	@$(BIN)/python benchmarks/plume.py
	@$(BIN)/python benchmarks/sarsop.py

clean:
	rm -rf .venv demo build
