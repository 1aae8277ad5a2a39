# Everything there is to do with this repository. `make` alone tells what.

.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
WORKERS ?= 2
# What is left out is told with its reason.
PYTEST := $(BIN)/python -m pytest -q -rs
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate

.PHONY: help setup demo test check core full bench eval lock fmt picture pictures clean

help: ## Tell what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(DEV) ## Install what running and testing need into .venv

demo: $(RUNTIME) ## Three days of a sample family: heard, decided, said, kept
	@$(BIN)/kinkeeper demo

test: check core full ## Everything that decides whether the program is right

check: $(DEV) ## Format, lint, types, layers
	$(BIN)/ruff format --check src tests bench evals
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

core: $(DEV) ## The fast tests
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "not slow and not crash and not evaluation"

full: $(DEV) ## The slow tests: whole programs, killed processes, accuracy
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "slow or crash or evaluation"; code=$$?; \
	[ $$code -eq 5 ] && echo "no slow tests yet" || exit $$code

bench: $(RUNTIME) ## Speed as ratios to a limit or peer
	$(BIN)/kinkeeper bench

eval: $(RUNTIME) ## Accuracy on labelled chats; KINKEEPER_DATA names the public data's folder
	$(BIN)/kinkeeper eval $(if $(KINKEEPER_DATA),all,observer)

lock: $(DEV) ## Resolve the dependencies anew and write down their hashes
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --upgrade --group build -o requirements/runtime.lock
	$(COMPILE) --upgrade --group build --group dev -c requirements/runtime.lock \
		-o requirements/dev.lock

fmt: $(DEV) ## Format the code and mend what can be mended
	$(BIN)/ruff format src tests bench evals
	$(BIN)/ruff check --fix

picture: $(RUNTIME) ## Draw the demo's picture in the documentation anew
	$(BIN)/python bench/draw_demo.py

pictures: $(DEV) picture ## Draw the pages' pictures, too; needs Chromium
	$(BIN)/python bench/draw_pages.py

clean: ## Remove what was installed and cached
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements/runtime.lock pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --require-hashes -r requirements/runtime.lock
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements/dev.lock $(RUNTIME) | $(BIN)/python
	@# The lock names everything; one package in it forbids a version that it works with.
	$(PIP) install --quiet --no-deps --require-hashes -r requirements/dev.lock
	@touch $@
