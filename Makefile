# All tasks for this repository. Run `make` to list the targets.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
WORKERS ?= 2
# -rs lists skipped tests with the reason. numpy's own threads only wait for each other where several tests run at once.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -rs
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate

.PHONY: help setup demo test check core full nightly bench eval lock fmt picture pictures clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(DEV) ## Install everything needed to run and test into .venv

demo: $(RUNTIME) ## Replay three days of a sample family
	@$(BIN)/kinkeeper demo

test: check core full ## Run every check and test

check: $(DEV) ## Check formatting, lint, types and layers
	$(BIN)/ruff format --check src tests bench evals training
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

FAST = -n $(WORKERS) --dist worksteal -m "not slow and not crash and not evaluation and not nightly"

core: $(DEV) ## Run the fast tests
	$(PYTEST) $(FAST)

full: $(DEV) ## Run the slow tests: whole programs, crashes, accuracy
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "(slow or crash or evaluation) and not nightly"; code=$$?; \
	[ $$code -eq 5 ] && echo "no slow tests yet" || exit $$code

nightly: $(DEV) ## Run the long tests: accuracy floors, crashes and attacks at full size, every combination, new random examples
	$(PYTEST) -n $(WORKERS) --dist worksteal -m nightly
	KINKEEPER_TESTS=all $(PYTEST) $(FAST)
	$(PYTEST) -n $(WORKERS) --dist worksteal --hypothesis-profile explore tests/property

bench: $(RUNTIME) ## Run the benchmarks; SUITE=name runs one
	$(BIN)/python -m bench $(SUITE)

eval: $(RUNTIME) ## Measure accuracy; SUITE=name runs one, KINKEEPER_DATA adds public data
	$(BIN)/python -m evals $(or $(SUITE),$(if $(KINKEEPER_DATA),all,observer))

lock: $(DEV) ## Update the lock files
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --upgrade --extra all --group build -o requirements/runtime.lock
	$(COMPILE) --upgrade --extra all --group build --group dev -c requirements/runtime.lock \
		-o requirements/dev.lock

fmt: $(DEV) ## Format the code and apply automatic fixes
	$(BIN)/ruff format src tests bench evals training
	$(BIN)/ruff check --fix

picture: $(RUNTIME) ## Redraw the demo picture in the docs
	$(BIN)/python -m bench.draw_demo

pictures: $(DEV) picture ## Redraw the page screenshots too; needs Chromium
	$(BIN)/python -m bench.draw_pages

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Installs a lock file and counts packages while pip works: a first run takes minutes.
# $(1): lock file, $(2): more arguments for pip
define install
@echo "Installing $(1) into $(VENV); the first time takes one to five minutes."
@$(PIP) install --require-hashes --progress-bar off $(2) -r $(1) | awk -v all=$$(grep -c '==' $(1)) \
	'/^(Collecting|Requirement already)/ { n++; printf "\r  %d of %d packages", n < all ? n : all, all; fflush() } \
	/^Installing/ { printf "\n  unpacking them\n"; fflush() } /^(ERROR|error)/'
endef

$(RUNTIME): requirements/runtime.lock pyproject.toml | $(BIN)/python
	$(call install,requirements/runtime.lock)
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements/dev.lock $(RUNTIME) | $(BIN)/python
	@# The lock names every package; one of them wrongly excludes a version that works with it.
	$(call install,requirements/dev.lock,--no-deps)
	@touch $@
