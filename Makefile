# hbstore's commands; `make` lists them. Assumed: git, make and a Python; `make test` installs what else it needs.

SHELL := /bin/bash
VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
DEMO := demo/run
SPARK_CLASSES := $(VENV)/spark-classes.jsa
SHORT_LIVED := -XX:SharedArchiveFile="$(CURDIR)/$(SPARK_CLASSES)" -Xlog:disable -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

# One Java for Spark, which asks JAVA_HOME, and for HBase, which asks the PATH.
ifneq ($(JAVA_HOME),)
export PATH := $(JAVA_HOME)/bin:$(PATH)
endif

.DEFAULT_GOAL := help
.PHONY: help venv lint format types types-linux types-macos check test demo demo-serve bench bench-metastore fuzz describe hbase-up hbase-down lock clean
.DELETE_ON_ERROR:

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

venv: $(INSTALLED) ## create .venv and install the locked packages and hbstore into it

$(INSTALLED): requirements-build.lock requirements-dev.lock pyproject.toml
	@dev/setup/tools.sh git python
	@dev/setup/venv.sh $(VENV)
	@touch $@

lint: $(INSTALLED) ## check the code's style and that it is formatted
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

format: $(INSTALLED) ## format the code and mend what can be mended
	$(PYTHON) -m ruff check --fix-only --quiet .
	$(PYTHON) -m ruff format .

types: types-linux types-macos ## check the types, strictly, for Linux and macOS

types-linux: $(INSTALLED) ## check them for Linux and the oldest Python alone
	$(PYTHON) -m mypy --platform linux

types-macos: $(INSTALLED) ## check them for macOS and the newest Python alone
	$(PYTHON) -m mypy --platform darwin --python-version 3.14 --cache-dir .mypy_cache/macos

check: lint types-linux ## lint, types, and the tests that need no Java, HBase or browser; ARGS are pytest's
	HYPOTHESIS_PROFILE=quick PYTHONDONTWRITEBYTECODE= $(PYTHON) -m pytest -n auto --maxprocesses 4 --dist loadfile \
		-m "not hbase and not spark and not slow and not browser" $(ARGS)

$(SPARK_CLASSES): $(INSTALLED) tests/spark_classes.py
	@dev/setup/tools.sh --install java mvn browser
	@echo "writing the classes of Spark into an archive, once …"
	@$(PYTHON) -m tests.spark_classes $@ 2>$@.log || { cat $@.log >&2; exit 1; }

# Tests start dozens of Sparks and hundreds of Pythons for seconds each: Java takes classes from the archive and compiles
# little, and each Python finds what the first one compiled, whatever the environment says.
test: $(INSTALLED) $(SPARK_CLASSES) ## run all tests, those on a real HBase, on Spark and in a browser included; ARGS are pytest's
	@dev/setup/tools.sh --install java mvn browser
	SPARK_SUBMIT_OPTS='$(SHORT_LIVED)' PYTHONDONTWRITEBYTECODE= \
		$(PYTHON) -m pytest -n auto --maxprocesses 4 --dist loadfile $(ARGS)

demo: $(INSTALLED) ## a year of flights: Spark asks the store which folders to read, and a cube for roll-ups; both are faster
	@dev/setup/tools.sh java
	$(PYTHON) demo/flights.py $(ARGS)

demo-serve: $(INSTALLED) ## open the console, REST and SQL on the flights that `make demo` left; ARGS are options of hbstore serve
	@dev/setup/tools.sh java
	@test -f $(DEMO)/catalog.db || { echo "the flights are not there yet: run make demo first" >&2; exit 1; }
	$(VENV)/bin/hbstore --store $(DEMO)/catalog.db serve --without-metastore --warehouse $(DEMO)/warehouse \
		--http-port 8080 --sql-port 10000 --results $(DEMO)/results --log-file $(DEMO)/serve.log $(ARGS)

bench: $(INSTALLED) ## run the benchmarks; ARGS choose some
	@dev/setup/tools.sh java mvn
	$(PYTHON) -m benchmarks $(ARGS)

bench-metastore: $(INSTALLED) ## the Hive Metastore endpoint beside a real Hive Metastore 2.3; ARGS choose what runs
	@dev/setup/tools.sh java mvn
	$(PYTHON) -m benchmarks.metastore $(ARGS)

fuzz: $(INSTALLED) ## compare random filters or cube queries (--cubes) with the naive answer, or mutate calls (--sql-port P); see ARGS=--help
	$(PYTHON) -m tests.fuzz $(ARGS)

describe: $(INSTALLED) ## ask the HTTP interface all that its /openapi.json describes, by schemathesis; ARGS are its own
	$(PYTHON) -m tests.web.by_description $(ARGS)

hbase-up: $(INSTALLED) ## start a real HBase on this machine, without Docker, and print its store URL
	@dev/setup/tools.sh java mvn
	$(PYTHON) dev/hbase/server.py up

hbase-down: $(INSTALLED) ## stop it; its data stays
	$(PYTHON) dev/hbase/server.py down

lock: ## pin the newest packages that pyproject.toml allows; ARGS=--upgrade replaces what is pinned already
	@dev/setup/tools.sh python
	PYTHON="$$(dev/setup/python.sh)" dev/setup/lock.sh $(ARGS)

clean: ## remove what tests, checks and the demo leave; .venv and HBase's data stay
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist demo/run spark-warehouse metastore_db derby.log
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +
