# Two commands: `make demo` runs the main job on the embedded sample, `make test` the checks.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Three processes on two cores: a fifth of the time, tests wait for others.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
# Small graphs run fastest with one thread per process.
export OMP_NUM_THREADS ?= 1
export DO_NOT_TRACK := 1
# Many processes are started; each would compile all sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-all check lint types contracts unit docs fuzz viz clean
.DEFAULT_GOAL := help

help:  ## Show the commands.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(STAMP)  ## Make .venv with the locked packages (skipped when current).

# torch comes first and by itself: which build of it fits depends on the machine. Hashes of what comes with it are
# checked before anything of the environment runs, those of all others by pip.
$(STAMP): requirements.lock requirements-setup.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Expected $(PYTHON) on the PATH; install Python 3.11 or set PYTHON=..."; exit 1; }
	@echo "Setting up $(VENV), once; some minutes, most of them to download."
	@echo "1 of 4: an empty environment"
	@$(PYTHON) -m venv $(VENV)
	@grep -oh '^[a-z][^ ]*==[^ ]*' requirements.lock requirements-setup.lock > $(VENV)/versions.txt
	@echo "2 of 4: torch, the build for this machine"
	@$(BIN)/python -m pip install --only-binary :all: -c $(VENV)/versions.txt --report $(VENV)/torch.json pip setuptools torch
	@$(PYTHON) -S -m tools.lock_check requirements.lock requirements-setup.lock -- $(VENV)/torch.json
	@echo "3 of 4: $$(grep -c '^[a-zA-Z].*==' requirements.lock) packages in the order of requirements.lock ($$(wc -l < requirements.lock) lines)"
	@$(BIN)/python -m pip install --no-deps --require-hashes -r requirements.lock
	@echo "4 of 4: this project"
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP)  ## Set up and run the main job on the embedded sample.
	$(BIN)/kedro run --env demo
	$(BIN)/mathamr show summary --env demo
	$(BIN)/mathamr search 'is $$\sqrt p$$ irrational for a prime $$p$$?' --env demo --top 3
	@echo "Now open the search page: $(BIN)/mathamr serve --env demo"

test: $(STAMP)  ## Set up and run lint, types, contracts, tests and the demo (minutes).
	@$(MAKE) --jobs 2 --output-sync lint contracts
	@$(MAKE) --jobs 2 types unit  # mypy has one line to say, and leaves a core idle

test-all: test  ## The same, then kills, tables, notebooks, all examples, other data, the site (what CI runs).
	@$(MAKE) docs
	$(PYTEST) -m slow

check: lint contracts types  ## Lint, import contracts, types.

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

contracts: $(STAMP)
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(PYTEST) -m "not slow"

docs: $(STAMP)  ## Build the documentation to build/site; broken links fail.
	@$(BIN)/python -m tools.site.notebooks
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build  # --quiet would not count warnings
	@echo "Open build/site/index.html, or with its search: $(BIN)/python -m http.server -d build/site"

fuzz: $(STAMP)  ## Run the property tests on many examples drawn anew (long).
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n 2 -m "not shared" --timeout=3600 $$(grep -rlE "from hypothesis" tests)

viz: $(STAMP)  ## Look at the eight stages in the browser.
	@(sleep 8; $(BIN)/python -m webbrowser "http://127.0.0.1:4141/?types=nodes") &
	$(BIN)/kedro viz run --no-browser

clean:  ## Remove everything the pipelines made (raw data stays).
	find data -mindepth 2 -not -path 'data/01_raw/*' -not -name .gitkeep -delete
