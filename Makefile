# Each target creates what it needs in .venv and reuses it; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
# as requires-python in pyproject.toml
LOWEST_PYTHON := 3.11
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test soak test-processors test-lowest test-package lint format docs bench clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: $(VENV)/.ready  ## fit noise that varies ninefold, print the verdict, draw the figure
	$(BIN)/heteroscope demo --out demo

test: $(VENV)/.ready-dev  ## run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

soak: $(VENV)/.ready-dev  ## run before a release: random kills, power cuts, damage; SOAK_MINUTES=60, SOAK_SEED replays
	$(BIN)/python -m pytest -m soak

# Old releases use what newer releases of their own dependencies have deprecated: here such warnings are no errors.
test-lowest: $(LOWEST)/.ready  ## run all tests with the oldest releases that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal \
		-W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning

test-processors: $(VENV)/.ready-dev  ## run the tests as other processors would; ONLY=sse runs one of native, avx2, sse
	$(BIN)/python tests/processors.py $(if $(ONLY),--only $(ONLY))

lint: $(VENV)/.ready-dev  ## style, types, the order of the packages, docstrings of public names
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_docstrings.py

format: $(VENV)/.ready-dev  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.ready-docs  ## build the documentation into site/; runs the examples
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs site
	@echo "Open site/index.html."

test-package: $(VENV)/.ready-dev  ## build wheel and sdist, install each into an empty environment, run the demo there
	rm -rf dist
	$(BIN)/python -m build --quiet --outdir dist .
	for package in dist/*.whl dist/*.tar.gz; do \
		rm -rf dist/environment && $(PYTHON) -m venv dist/environment && \
		dist/environment/bin/python -m pip install --quiet $$package && \
		(cd dist && environment/bin/heteroscope demo --quiet --out demo) || exit 1; \
	done

bench: $(VENV)/.ready-bench  ## run the benchmarks whose tables are in BENCHMARKS.md
	$(BIN)/python -m benchmarks

clean:  ## remove everything that make created
	rm -rf $(VENV) $(LOWEST) demo dist site docs/gallery .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(VENV)/.ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.ready-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/.ready $@

$(VENV)/.ready-docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(VENV)/.ready-bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

# uv finds a Python of that version or fetches one; it takes packages from where pip does if pip was told, and trusts
# the certificates that the system trusts.
$(LOWEST)/.ready: pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)/uv
	$(LOWEST)/uv/bin/python -m pip install --quiet uv
	$(LOWEST)/uv/bin/uv venv --quiet --allow-existing --python $(LOWEST_PYTHON) $(LOWEST)
	index=$${PIP_INDEX_URL:-$$($(LOWEST)/uv/bin/python -m pip config get global.index-url 2>/dev/null)}; \
	if test -n "$$index" -a -z "$$UV_DEFAULT_INDEX"; then export UV_DEFAULT_INDEX="$$index"; fi; \
	UV_SYSTEM_CERTS=1 $(LOWEST)/uv/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--compile-bytecode --editable '.[dev]'
	touch $@
