# Without make (Windows, conda): the README has the same commands by hand.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup lab test notebooks format clean

PYTHON ?= $(shell for p in python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
TORCH_INDEX ?=
WHEELS ?=
FRESH ?=

PY := .venv/bin/python
# Written last, so an interrupted installation is taken up again.
STAMP := .venv/.installed

help: ## list what make can do here
	@sed -n -E 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 18
	@echo "Variables: PYTHON=python3.12 (3.11 or later), TORCH_INDEX=<extra package index for torch>, WHEELS=<folder>"

setup: $(STAMP) ## create .venv and install all that lessons and checks need

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later found; name one: make $(MAKECMDGOALS) PYTHON=…"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PY) -m pip install $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) $(if $(WHEELS),--no-index --find-links $(WHEELS)) -c constraints.txt -e ".[course,test]"
	@touch $@

lab: setup ## open the lessons in JupyterLab, as copies in my_notebooks/ (FRESH=1: another copy beside yours)
	$(PY) tools/lab.py $(if $(FRESH),--fresh)

test: setup ## lint, spelling, types, unit tests, examples in docstrings, every output of every notebook
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m codespell_lib
	$(PY) -m mypy
	$(PY) -m pytest -q -n 2 --dist loadfile

notebooks: setup ## run every notebook in a fresh kernel and store what it shows
	$(PY) tools/notebooks.py

format: setup ## mend layout and order of imports, notebooks included
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

clean: ## remove .venv and caches; my_notebooks/ stays
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find chunklib tools tests benchmarks notebooks capstone -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf
