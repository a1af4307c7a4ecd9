# From a bare clone: `make demo` and `make test` create .venv, install, and run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m pytest -n 2 -q
# Exactly the versions of constraints.txt, so that results repeat to the last bit.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

MODELS ?= 20000
SEED ?= 0
PYODIDE ?= 314.0.8
# Tests start hundreds of processes: each would compile all modules again where no byte code may be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-quick test-long test-exhaustive fuzz mutate lint docs browser formal constraints clean

help:
	@echo "make demo        install the core (under a minute) and construct S_5, check its certificate, track 1,000,000 tokens in bf16, prove parity impossible without negative eigenvalues"
	@echo "make test        lint, types, docs and all tests but the long ones (50 minutes on two cores)"
	@echo "make test-quick  the quick tests (35 minutes on two cores)"
	@echo "make test-long   thousands of random cases (50 minutes on two cores)"
	@echo "make test-exhaustive  every case of the families of which test-long runs a sample (an hour on two cores)"
	@echo "make fuzz        compare MODELS=20000 random models with an independent oracle (half an hour on two cores)"
	@echo "make mutate      plant errors in the trusted base, one after the other; a check must notice each (30 minutes)"
	@echo "make lint        ruff, mypy, import contracts"
	@echo "make docs        build the documentation site into site/ (with pages of the Coq library, if make formal has compiled it)"
	@echo "make browser     fetch Pyodide from npm, with which a page of the site checks certificates in the browser (needs npm)"
	@echo "make formal      check the theorems in Coq and build the proved checker (12 minutes at most on two cores; needs Coq)"
	@echo "make constraints write the newest versions that pyproject.toml admits into constraints.txt"

# the core only, which needs no torch; what is never imported is not compiled, which halves the time
$(VENV)/.runtime: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile -e .
	mkdir -p $(VENV)/src && ln -sfn ../.. $(VENV)/src/mirrormata
	touch $@

# all extras, and the tools for tests, checks and docs
$(VENV)/.dev: $(VENV)/.runtime
	$(INSTALL) -e '.[dev]'
	touch $@

demo: $(VENV)/.runtime
	@$(BIN)/python -m mirrormata.examples.demo

# lint and docs side by side: each uses one core for minutes
test: $(VENV)/.dev
	$(MAKE) --no-print-directory -j 2 lint docs
	$(RUN) -m "not long and not exhaustive"

test-quick: $(VENV)/.dev
	$(RUN) -m "not long and not exhaustive and not install"

test-long: $(VENV)/.dev
	$(RUN) -m "long and not exhaustive"

test-exhaustive: $(VENV)/.dev
	$(RUN) -m exhaustive

fuzz: $(VENV)/.dev
	$(BIN)/python -m mirrormata.tests.fuzz --models $(MODELS) --seed $(SEED) --processes 2 --output fuzz-results.json

mutate: $(VENV)/.dev
	$(BIN)/python -u -m mirrormata.tests.mutations.run

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Pyodide for the page that checks certificates in the browser; `make docs` then puts it into the site.
browser:
	mkdir -p build/browser
	cd build/browser && npm pack --silent pyodide@$(PYODIDE) && tar -xzf pyodide-$(PYODIDE).tgz

# The Debian packages that this needs are named in CONTRIBUTING.md.
formal:
	@if command -v coqc >/dev/null && command -v ocamlfind >/dev/null; then $(MAKE) --no-print-directory -C theory/formal -j 2; \
	else echo "formal: skipped: the theorems and the proved checker need Coq and OCaml (see CONTRIBUTING.md)"; fi

# In a fresh environment, so that nothing that was installed by hand gets into the file. Builds of torch differ in their
# local version (+cpu) and in the CUDA libraries, which torch pins itself: both are left out.
constraints:
	set -e; venv=$$(mktemp -d); trap 'rm -rf "$$venv"' EXIT; $(PYTHON) -m venv "$$venv"; \
	"$$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[dev,ray]'; \
	"$$venv/bin/python" -m pip --disable-pip-version-check freeze --exclude-editable > "$$venv/freeze.txt"; \
	{ sed -n '/^#/p' constraints.txt; \
	  sed -E -e '/^[A-Za-z0-9._-]+==/!d' -e '/^(nvidia|cuda)-/d' -e 's/[+].*//' "$$venv/freeze.txt"; } > "$$venv/constraints.txt"; \
	cp "$$venv/constraints.txt" constraints.txt

clean:
	rm -rf $(VENV) site build dist demo *.egg-info
