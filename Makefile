# Needs Python 3.11 or newer with its venv module, make and git; all else goes into .venv.
# Choose another interpreter with `make test PYTHON=/path/to/python`.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
# Blocks of tests, so that what a module makes once is made by one worker; who is done takes over.
PYTEST ?= -q -n auto --dist worksteal
MAIN := openai-chat openai-responses anthropic gemini ollama
HEADS := $(foreach name,$(MAIN),../shared/traffic/$(name).jsonl.gz)
HEADS += vertex=../shared/traffic/gemini.jsonl.gz
WIRES := mistral cohere bedrock-converse gemini-interactions
TRAFFIC := $(HEADS) $(foreach name,$(WIRES),../shared/traffic/$(name).jsonl.gz)
FILES ?= $(TRAFFIC)
MINUTES ?= 25
JOBS ?= 1
comma := ,
space := $(subst ,, )
QUICK := cells,agents,by-hand,loops,streams

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Print the first interpreter that really runs (a shim may be there and fail): $(1) are versions,
# $(2) are commands to try before them. That of the system comes first: it is compiled with profiles,
# those that pyenv compiles mostly are not, and take a quarter longer for everything.
find_python = for python in $(2) $(foreach version,$(1),/usr/bin/python$(version) python$(version) \
	$${PYENV_ROOT:-$$HOME/.pyenv}/versions/$(version).*/bin/python); do \
	if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null; then command -v "$$python"; break; fi; done

.PHONY: help demo house old against test test-wide compiled test-compiled bench-compiled wheel-compiled lint pytest format sweep wires traces bedrock streams drift usage prefix load differential mutants fuzz coverage signal bench bench-cells site site-serve playground look release test-all-pythons wheel clean loaders audit agents loop threads datasets

help:
	@echo "make demo   convert an exchange between four providers, and tell what is lost"
	@echo "make test   run ruff, mypy and the test suite"
	@echo "make test-wide   the same with all that the suite takes some of: pairs, files, dialects"
	@echo "make sweep FILES=...   run recorded exchanges through every pair of dialects"
	@echo "make wires   what recorded streams of six become in further wires; of bodies the sweep has it"
	@echo "make traces FILES=... EVERY=20 CHANGE=8   trace them, and hold changes of leaves against the traces"
	@echo "make audit FILES=... EVERY=1 PAIRS=all   hold what they note against audits, and provoke each line of the pairs of five dialects"
	@echo "make loaders   let agents and frameworks load what we write, and take up those that wireglot move wrote (node, npm)"
	@echo "make loop   put official SDKs through nine turns before strict stand-ins of five providers, through eight before models that think, and agent libraries through six"
	@echo "make threads MANY=1000000   10,000 conversions in 8 threads while rules change; memory over many conversions"
	@echo "make agents AGENTS=... TARGETS=... SCENES=...   run coding agents before wireglot serve and strict providers (npm)"
	@echo "make streams FILES=... CHANGE=20   run recorded streams to every dialect and through the SDKs; change leaves"
	@echo "make bedrock   requests and streams that we write for Converse, before the service's own rules and botocore's parser"
	@echo "make prefix   a growing session of Claude Code to each provider: how much of a request begins the next"
	@echo "make datasets ONLY=rate,memory,kills,broken,peers,ray,spark LINES=N   convert a million lines, killed and broken; peers and a cluster beside"
	@echo "make load ONLY=speed,open,memory   put wireglot serve under load, beside a relay that converts nothing and litellm's proxy"
	@echo "make usage   take recorded token counts to every dialect and back"
	@echo "make signal      count the notes of recorded payloads by severity: are they worth reading?"
	@echo "make differential   compare functions with the walk of pictures on 100,000 mutants, and streams"
	@echo "make against ONLY=convert,mutants MUTANTS=100000 EVERY=1   hold this engine against that of before (a full clone), on all traffic; OLD=COMMIT: another"
	@echo "make mutants   feed forged riders and states and broken payloads to exchanges; how time grows"
	@echo "make fuzz MINUTES=25 JOBS=1   feed a million broken rule files to the loader and what converts by them"
	@echo "make drift   what the SDKs that are installed have and the rules do not, and the other way round"
	@echo "make site    build the docs into site/ and follow every link; make site-serve shows them while you write"
	@echo "make house   the rooms of the engine: imports that lead up, circles, lines"
	@echo "make playground     build the site with a playground, on Pyodide (npm)"
	@echo "make look ONLY=site,report,server,hostile,playground   look at the docs, a report and a server's page in Chromium, without a network: needs chromium"
	@echo "make bench ONLY=cells,loops PEERS=...   the table of bars; make bench-cells in under a minute, of fewer bodies"
	@echo "make compiled | test-compiled | bench-compiled | wheel-compiled   the engine as C, of the same sources (mypyc and a compiler): the suite, the bars, a wheel of it"
	@echo "make release   build, check and install what a release would be, on each Python, with each extra"
	@echo "make coverage | test-all-pythons | format | wheel | clean"

house: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.house

demo: $(VENV)/.installed
	@$(BIN)/python examples/demo.py

test: lint pytest

test-wide: export WIREGLOT_TESTS = wide
test-wide: test

loop: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.loops
	@$(BIN)/python -m tests.returning
	@$(BIN)/python -m tests.everypair
	@$(BIN)/python -m tests.reasonloop
	@$(BIN)/python -m tests.switches
	@$(BIN)/python -m tests.libraries $(VENV)/libraries
	@$(BIN)/python -m tests.libraries $(VENV)/libraries --broken

threads: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.threads 10000 $(or $(MANY),60000)

pytest: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest $(PYTEST) || { code=$$?; \
	if [ $$code -eq 5 ]; then echo "No test was collected: is tests/ there?" >&2; fi; exit $$code; }

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check . || { echo "Run 'make format'." >&2; exit 1; }
	@$(BIN)/mypy

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check -q --fix .
	@$(BIN)/ruff format -q .

sweep: $(VENV)/.installed-sdks
	@$(BIN)/python -m tests.sweep $(FILES)

wires: $(VENV)/.installed-sdks
	@$(BIN)/python -m tests.streamsweep --change $(or $(CHANGE),4) --to $(subst $(space),$(comma),$(WIRES)) $(HEADS)

traces: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.traces $(FILES) --every $(or $(EVERY),20) --change $(or $(CHANGE),8)

audit: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.audit $(FILES) --every $(or $(EVERY),1)
	@$(BIN)/python -m tests.audit --lines $(if $(PAIRS),,--from $(MAIN) --to $(MAIN))

bedrock: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.bedrock

streams: $(VENV)/.installed-sdks
	@$(BIN)/python -m tests.streamsweep --change $(or $(CHANGE),20) $(FILES)

prefix: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.prefix

datasets: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.datasets $(if $(ONLY),--only $(ONLY)) $(if $(LINES),--lines $(LINES))

load: $(VENV)/.installed-dev $(VENV)/.installed-litellm
	@$(BIN)/python -m tests.load $(if $(ONLY),--only $(ONLY)) $(if $(SERVERS),--servers $(SERVERS))

usage: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.usage

loaders: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.loaders $(VENV)/loaders
	@$(BIN)/python -m tests.loaders.frameworks $(VENV)/loaders
	@$(BIN)/python -m tests.loaders.events $(VENV)/loaders
	@$(BIN)/python -m tests.loaders.resume $(VENV)/agents

agents: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.agents --agents $(AGENTS) --targets $(TARGETS) --scenes $(SCENES)

differential: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.differential
	@$(BIN)/python -m tests.streamdiff

drift: $(VENV)/.installed-sdks
	@$(BIN)/wireglot drift

signal: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.signal

old: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.old

against: old
	@$(BIN)/python -m tests.against $(if $(ONLY),--only $(ONLY)) --every $(or $(EVERY),1) --jobs $(JOBS) \
		$(if $(MUTANTS),--mutants $(MUTANTS)) $(if $(CUTS),--cuts $(CUTS)) $(if $(FUZZ),--fuzz $(FUZZ))

mutants: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.mutants

fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.rulefuzz 1000000 --minutes $(MINUTES) --jobs $(JOBS) --save fuzzed

coverage: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.coverage

# The engine in C, beside that in Python: the same sources, of which mypyc makes C (a compiler, Python.h).
compiled: $(VENV)/.installed-dev
	@rm -rf .compiled && mkdir .compiled
	@cp -r engine rules setup.py pyproject.toml README.md LICENSE .compiled
	@find .compiled -name __pycache__ -prune -exec rm -rf {} +
	@cd .compiled && WIREGLOT_COMPILED=1 $(abspath $(BIN))/python setup.py -q build_ext --inplace \
		> build.log 2>&1 || { cat build.log; exit 1; }

test-compiled: compiled
	@PYTHONPATH=.compiled/engine $(BIN)/python -m pytest $(PYTEST)

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks bars $(if $(ONLY),--only $(ONLY)) $(if $(PEERS),--peers $(PEERS))

bench-compiled: compiled
	@PYTHONPATH=.compiled/engine $(BIN)/python -m benchmarks bars --quick --only $(or $(ONLY),$(QUICK))

bench-cells: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks bars --quick --only $(or $(ONLY),$(QUICK))

site: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build -q
	@$(BIN)/python -m website.playground site
	@$(BIN)/python -m website.links site

playground: site $(VENV)/.installed-playground
	@$(BIN)/python -m website.playground site $(VENV)/playground/node_modules/pyodide

site-serve: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

look: site $(VENV)/.installed-dev $(VENV)/.installed-look
	@$(BIN)/python -m tests.look $(if $(ONLY),--only $(ONLY))

wheel: $(VENV)/.installed-dev
	@rm -rf build dist
	@$(BIN)/python -m build
	@ls dist

wheel-compiled: $(VENV)/.installed-dev
	@rm -rf build dist
	@WIREGLOT_COMPILED=1 $(BIN)/python -m build --wheel --no-isolation
	@ls dist

release: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.release

test-all-pythons:
	@for version in 3.11 3.12 3.13 3.14; do \
	python=$$($(call find_python,$$version)); \
	if [ -z "$$python" ]; then echo "Python $$version: not found, skipped."; continue; fi; \
	echo "Python $$version:"; \
	$(MAKE) --no-print-directory pytest VENV=.venv-$$version PYTHON="$$python" || exit 1; done

clean:
	@rm -rf .venv .venv-3.* .old build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@rm -rf engine/wireglot.egg-info

$(BIN)/python:
	@python=$$($(call find_python,3.11 3.12 3.13 3.14 3,$(PYTHON))); \
	if [ -z "$$python" ]; then \
	echo "No Python 3.11 or newer with venv was found: install one, or name it with PYTHON=..." >&2; \
	exit 1; fi; \
	"$$python" -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml setup.py
	@echo "Installing into $(VENV)."
	@$(BIN)/python -m pip install -qq -e .
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml setup.py
	@echo "Installing into $(VENV), with what the tests need."
	@$(BIN)/python -m pip install -qq -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-sdks: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install -qq -e '.[sdks]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	@$(BIN)/python -m pip install -qq -e '.[docs]'
	@touch $@

$(VENV)/.installed-litellm: $(BIN)/python
	@$(BIN)/python -m venv $(VENV)/litellm
	@$(VENV)/litellm/bin/python -m pip install -qq 'litellm[proxy]==1.106.2'
	@touch $@

$(VENV)/.installed-playground: $(BIN)/python website/playground/package.json
	@mkdir -p $(VENV)/playground
	@cp website/playground/package.json $(VENV)/playground
	@npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(VENV)/playground
	@touch $@

$(VENV)/.installed-look: $(VENV)/.installed
	@$(BIN)/python -m pip install -qq -e '.[look,report]'
	@touch $@
