# Each target creates what it needs in .venv and reuses it; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test soak lint format bench clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.ready  ## search the diagonal on the sine set, print the verdict, draw the figure
	$(BIN)/heteroscope demo --out demo

test: $(VENV)/.ready-dev  ## run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

soak: $(VENV)/.ready-dev  ## run before a release: diagrams and streams killed at random, again and again
	$(BIN)/python -m pytest -m soak

lint: $(VENV)/.ready-dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready-dev  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready-bench  ## run the benchmarks whose tables are in BENCHMARKS.md
	$(BIN)/python -m benchmarks

clean:  ## remove everything that make created
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache

$(VENV)/.ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.ready-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/.ready $@

$(VENV)/.ready-bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@
