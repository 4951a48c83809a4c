# make run    set up, then measure the default campaign and write the report
# make test   set up, then run every test
# make check  format, lint and types of Rust, Python and C

VENV     := .venv
BIN      := $(VENV)/bin
ENGINE   := $(shell find engine Cargo.toml Cargo.lock -name '*.rs' -o -name '*.toml' -o -name Cargo.lock)
# Not by crate: a build script finds some, and cargo fmt does not see those.
RUST_FILES = $(shell git ls-files '*.rs')
C_FILES   = $(shell git ls-files 'firmware/*.c' 'firmware/*.h' 'benches/*.c' 'tests/*.c' 'libraries/*.[ch]' 'libraries/*.cpp' 'estimates/*.[ch]' 'src/*.c')

# Compiled modules are kept, whatever the environment says: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run site test test-rust check check-rust check-python check-c audit release setup format wheel bench clean help lock
.DEFAULT_GOAL := help

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

setup: $(VENV)/.engine ## install what is needed; leaves the command at .venv/bin/joulemark

run: setup ## measure the default campaign, write the report
	$(BIN)/joulemark run

site: run ## the same, then a site with an address for each number, in site/
	$(BIN)/joulemark site

test: setup test-rust ## run all tests
	$(BIN)/pytest -n auto --dist worksteal

test-rust: $(VENV)/.python $(VENV)/.test-tools ## run the tests of the engine alone
	cargo test --workspace --tests --profile verify --quiet

check: check-rust check-python check-c audit ## format, lint and types of all three languages; dependencies

check-rust: $(VENV)/.system
	rustfmt --check --edition 2024 $(RUST_FILES)
	cargo clippy --workspace --all-targets --profile verify --quiet -- -D warnings

check-python: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/stubtest joulemark._engine

audit: setup ## licences, origins and known flaws of dependencies
	tools/audit.sh

check-c: $(VENV)/.test-tools
	@echo clang-format-19; clang-format-19 --dry-run -Werror $(C_FILES)

format: setup $(VENV)/.test-tools ## rewrite all sources in the project's format
	rustfmt --edition 2024 $(RUST_FILES)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	clang-format-19 -i $(C_FILES)

wheel: setup ## wheel for this machine in dist/, with chips, boards, firmware and engine
	tools/build-wheels.sh

release: setup ## tag VERSION=x.y.z, with a wheel and an sdist in dist/ that were installed and tried
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/release.py "$(VERSION)"

bench: $(VENV)/.test-tools ## speed of the engine: MSP430 beside mspdebug, Cortex-M3 in each configuration of memory
	cargo bench --package joulemark-machine --package joulemark-armv7m

clean: ## remove everything that was built
	rm -rf $(VENV) build target

# Stamps: each step runs again only when what it depends on has changed.
# The scripts of a virtual environment name its folder: a checkout that was copied or moved needs
# another.
ELSEWHERE := $(shell test ! -e $(VENV)/bin/activate || grep -qF '$(CURDIR)/$(VENV)' $(VENV)/bin/activate || echo elsewhere)

.PHONY: elsewhere
$(VENV)/.system: tools/system-packages.sh $(ELSEWHERE)
	tools/system-packages.sh run
	python3 -m venv $(if $(ELSEWHERE),--clear )$(VENV)
	touch $@

$(VENV)/.test-tools: tools/system-packages.sh | $(VENV)/.system
	tools/system-packages.sh test
	touch $@

$(VENV)/.python: requirements.lock $(VENV)/.system
	$(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.9 # four times as quick as pip
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements.lock
	touch $@

$(VENV)/.engine: $(ENGINE) pyproject.toml $(VENV)/.python
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

lock: setup ## pin the Python dependencies anew
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url --no-header --quiet -o requirements.lock
