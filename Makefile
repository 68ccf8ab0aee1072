# `make` lists the targets. Everything a target needs is made in .venv first; nothing is installed outside this folder.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.cuvil-setup

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint check docs bench models operators test-gpu bench-gpu clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with everything that the other targets need (again only if the requirements change)

# Editable by a path (compat), not by an import hook: a script beside this folder, which may have the package's own name,
# then imports the package and not the folder.
$(STAMP): pyproject.toml .constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Cuvil needs Python 3.11 or newer: make setup PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
		|| { echo "this Python cannot make virtual environments: install its venv package (Debian: python3-venv)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .constraints.txt \
		--config-settings editable_mode=compat --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## Compile ResNet-50 and BERT-base and compare them with eager PyTorch (ARGS=--all for eight models)
	@$(BIN)/python -m benchmarks.demo $(ARGS)

test: $(STAMP) ## Run every test that needs no GPU: pytest and lit, on all cores
	@$(BIN)/python tests/run_suites.py $(ARGS)

lint: $(STAMP) ## Run ruff and pyright
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

docs: $(STAMP) ## Generate the reference of dialects and passes under docs/reference
	@$(BIN)/python -m cuvil.tools.docs_reference

check: $(STAMP) ## Every gate: lint, the reference is current, tests
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m cuvil.tools.docs_reference --check
	@$(MAKE) --no-print-directory test

bench: $(STAMP) ## Measure the eight CPU models, the compile time's growth and start-up; JSON under benchmarks/results
	@$(BIN)/python -m benchmarks.cpu_models $(ARGS)
	@$(BIN)/python -m benchmarks.compile_scaling
	@$(BIN)/python -m benchmarks.start_up

models: $(STAMP) ## Compile the architectures of transformers through both doors; writes docs/models.md
	@$(BIN)/python -m benchmarks.architectures $(ARGS)

test-gpu: $(STAMP) ## Run the kernels of every op on the GPU of this machine (pycuda); writes benchmarks/results/gpu_kernels.json
	@$(BIN)/python -m tests.gpu_device --json benchmarks/results/gpu_kernels.json $(ARGS)

operators: $(STAMP) ## Check PyTorch's samples of every operator against eager PyTorch (ARGS=--samples 2 for a short run)
	@$(BIN)/python -m benchmarks.operators $(ARGS)

bench-gpu: $(STAMP) ## Measure memory-bound kernels against a device copy, and the CUDA models
	@$(BIN)/python -m benchmarks.gpu_kernels --json benchmarks/results/gpu_bandwidth.json
	@$(BIN)/python -m benchmarks.gpu_models $(ARGS)

clean: ## Remove caches and build products; .venv stays
	@rm -rf .cache build dist cuvil.egg-info .pytest_cache .ruff_cache .hypothesis
