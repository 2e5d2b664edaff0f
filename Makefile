# Each target sets itself up in .venv: nothing is needed beforehand but Python, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COOKING := examples/cooking
# Compiled modules are kept, even where the environment says not to: tests start many processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo judge test deep rest quick oldest packages hosts lint check docs site site-check pictures fuzz gpu bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'

# pip would compile every module of every package, one after the other; this takes all cores, and
# leaves out their tests.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
COMPILE := -m compileall -q -j 0 -x /tests/ $(VENV)/lib > /dev/null || true

# One stamp for each set of packages, renewed when pyproject.toml changes.
$(VENV)/stamp-demo: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable .
	@touch $@

$(VENV)/stamp-%: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable . --group $*
	$(if $(filter test check,$*),$(BIN)/python $(PIP) --no-deps --group alone)
	@$(BIN)/python $(COMPILE)
	@touch $@

demo: $(VENV)/stamp-demo  ## try gainful on example files, in gainful-demo/
	@$(BIN)/gainful demo

judge: $(VENV)/stamp-judge  ## open the judging desk on the shipped runs, and go on where it was left
	$(BIN)/gainful --no-config judge $(COOKING)/keyword.run $(COOKING)/semantic.run $(COOKING)/hybrid.run \
		--queries $(COOKING)/queries.tsv --docs $(COOKING)/docs.tsv --depth 10 --title Cooking --db $(VENV)/cooking.db

# Two processes for two cores: threads of their own would only wait for one another. With Spark and a
# browser there are three: with two, a core is idle at times.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --dist loadscope
test: $(VENV)/stamp-test  ## run the tests, and name the ten slowest
	$(PYTEST) -n 3 --durations=10

deep: $(VENV)/stamp-test  ## run all tests, also those and the cases that `make test` leaves out
	$(PYTEST) -n 3 --durations=10 --deep

PART ?= 1/16
rest: $(VENV)/stamp-test  ## run a part of what `make test` leaves out, PART=1/16
	$(PYTEST) -n 3 -q --rest $(PART)

quick: $(VENV)/stamp-test  ## run the tests that are quick: no Spark, browser, PyTorch or JAX
	$(PYTEST) -n 2 --quick

# The oldest versions that pyproject.toml permits stand in an environment of their own.
OLDEST := $(VENV)/oldest
$(OLDEST)/stamp: pyproject.toml | $(BIN)/python
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(OLDEST)/bin/python tests/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python $(PIP) -c $(OLDEST)/constraints.txt --editable '.[report,judge,postgres,sql]' --group quick
	@touch $@

oldest: $(OLDEST)/stamp  ## run the quick tests with the oldest versions that pyproject.toml permits
	OMP_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest --dist loadscope -n 2 --quick

packages: $(BIN)/python  ## build the wheel and the source distribution into dist/, and try each in an empty environment
	$(BIN)/python packaging/build_and_try.py

# Heavy hosts stand in an environment of their own, on top of that of the tests: what they ask for
# would change the versions of other packages there.
HOSTS := $(VENV)/hosts
$(HOSTS)/stamp: $(VENV)/stamp-test
	$(BIN)/python -m venv --without-pip $(HOSTS)
	$(BIN)/python -c 'import site; print(f"import site; site.addsitedir({site.getsitepackages()[0]!r})")' \
		> $$(echo $(HOSTS)/lib/python*/site-packages)/tests.pth
	$(HOSTS)/bin/python $(PIP) --group hosts -c tests/hosts/constraints.txt
	$(HOSTS)/bin/python $(PIP) --no-deps --group hosts-alone
	@touch $@

# Plug-ins of pytest that hosts bring are not loaded: they break on warnings.
hosts: $(HOSTS)/stamp  ## run the tests of heavy hosts, such as MLflow and LlamaIndex
	OMP_NUM_THREADS=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(HOSTS)/bin/python -m pytest -p xdist -n 2 --dist loadscope tests/hosts

lint: $(VENV)/stamp-check  ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typed_calls.py

check: lint  ## lint, format, types, prose, import law, public API; the documentation is run by `make test`
	$(BIN)/python docs/prose.py
	$(PYTEST) -n 2 -q tests/project/test_import_law.py tests/project/test_public_api.py

docs: $(VENV)/stamp-check  ## write the generated parts of the documentation anew
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/playground/build.py
	$(BIN)/python docs/charts.py

# Where `make check` has set itself up, its packages are enough: those of the site are among them.
# Not --quiet, with which warnings would not count. Material tells what becomes of MkDocs: not at each build.
site: $(or $(wildcard $(VENV)/stamp-check),$(VENV)/stamp-site)  ## build the documentation as a site, into site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

site-check: site $(VENV)/stamp-test  ## build the site, and scan every page of it for what shuts readers out
	$(PYTEST) -n 2 -q tests/site

pictures: $(VENV)/stamp-test  ## take the pictures of the documentation anew, in a browser
	$(PYTEST) -n 0 -q --pictures tests/browser/test_desk_tutorial.py tests/browser/test_playground_page.py \
		tests/browser/test_report_picture.py
	$(BIN)/python docs/guide_charts.py

MINUTES ?= 10
fuzz: $(VENV)/stamp-test  ## try mutated files on every reader, for MINUTES=10
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m fuzzing --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

gpu:  ## check and time the fused kernels, with PYTHON=… that has PyTorch for a GPU
	$(PYTHON) benchmarks/gpu_check.py
	$(PYTHON) benchmarks/gpu_losses.py

bench: $(VENV)/stamp-bench  ## time gainful beside its peers; with ARGS=--cores, files on 1, 2, 4 … cores
	$(BIN)/python benchmarks/run.py $(ARGS)

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
