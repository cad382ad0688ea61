# One line per thing one does. Only Python 3.11 is needed to start.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000

.PHONY: setup demo test lint bench openapi lock setup-dev clean

setup: $(VENV)/.base

setup-dev: $(VENV)/.dev

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null 2>&1 && $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Assay needs Python 3.11; set PYTHON to one")' || (rm -rf $(VENV); exit 1)

$(VENV)/.base: requirements/base.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/base.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

demo: setup
	@$(BIN)/python manage.py demo --host $(HOST) --port $(PORT)

test: setup-dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not browser and not postgres and not redis" $(ARGS)

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy config evaluation annotator judging
	$(BIN)/lint-imports

bench: setup-dev
	$(BIN)/python -m benchmarks $(ARGS)

openapi: setup
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

lock: setup-dev
	$(BIN)/pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host -o requirements/base.txt requirements/base.in
	$(BIN)/pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host -o requirements/dev.txt requirements/dev.in

clean:
	rm -rf $(VENV) var staticfiles screenshots .pytest_cache .mypy_cache .ruff_cache
