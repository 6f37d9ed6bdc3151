SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

STATICCHECK  := .tools/staticcheck-v0.8.2
WORKFLOWCHECK := .tools/workflowcheck-v0.6.0
GOVULNCHECK  := .tools/govulncheck-v1.1.4

# The Go modules that make test tests: the product, the one-process program with its servers,
# an example of a program with additions, the benchmarks.
MODULES := . standalone examples/supportdesk bench
# Modules that make test-long tests: the Helm chart, the Dockerfile and docker-compose.yml, and
# a system that a benchmark compares Palaver with.
LONG_MODULES := deploy docker bench/peers/dbos

# The page shares the reading of streams with the client.
WEB_SOURCES := $(shell find web clients/typescript/src -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*')

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: standalone ## Build and start everything in one process (page on :8080, Temporal Web UI on :8233)
	@exec bin/palaver-standalone

.PHONY: build
build: standalone ## Build the page and both binaries into bin/
	@scripts/go-build . bin/palaver ./cmd/palaver

.PHONY: standalone
standalone: tools-present web/dist/index.html
	@scripts/go-build standalone bin/palaver-standalone .

# One after another: beside each other they make two slow cores too busy for both.
.PHONY: test
test: browser-present postgres-present ocr-present standalone ## Run the tests of every change: Go modules, page, clients, browser (SKIP_BROWSER=1 skips the browser)
	@$(MAKE) test-go
	@$(MAKE) test-page

.PHONY: test-long
test-long: browser-present postgres-present ocr-present caddy-present ## Run what takes longer: storms, production's processes, Postgres, more of the browser, chart, container files, race detector, fuzzing, vulnerabilities
	@failed=""; \
	for step in test-production test-browser-long test-runtimes test-deploy test-race fuzz vulnerabilities; do \
		$(MAKE) $$step || failed="$$failed $$step"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

# Without a browser the tests must fail before the build, not minutes later.
.PHONY: browser-present
browser-present:
ifndef SKIP_BROWSER
	@scripts/chromium > /dev/null
endif

.PHONY: postgres-present
postgres-present:
	@scripts/postgres

.PHONY: ocr-present
ocr-present:
	@scripts/tesseract

.PHONY: caddy-present
caddy-present:
	@scripts/caddy

# Without go test's own vet, which covers a part of what `make lint` checks and would read
# every dependency, Temporal's server included, once more.
.PHONY: test-go
test-go: tools-present postgres-present ocr-present web/dist/index.html tools/mcp/testservers/node_modules/.installed ## Run the Go tests of a change
	@for module in $(MODULES); do \
		echo "== go test ($$module)"; \
		(cd $$module && go test -vet=off -timeout 30m ./...); \
	done

.PHONY: test-page
test-page: test-web test-clients test-browser

.PHONY: test-web
test-web: tools-present web/node_modules/.installed ## Run the unit tests of the page
	@echo "== unit tests of the page"
	@cd web && npm run --silent test

.PHONY: test-clients
test-clients: tools-present standalone e2e/node_modules/.installed e2e/clients/node_modules/.installed clients/typescript/node_modules/.installed tools/mcp/testservers/node_modules/.installed ## Run our client for TypeScript, the client libraries of the AI SDK, assistant-ui, AG-UI, OpenAI and MCP, and a model that fails at random, against the binary
	@echo "== client libraries"
	@cd e2e/clients && npm run --silent test

.PHONY: test-browser
test-browser: ## Run the browser tests of a change against the binary
	@$(MAKE) browser-tests BROWSER_TESTS=test

.PHONY: test-browser-long
test-browser-long: e2e/langgraph/dist/index.html ## Run the other browser tests, those in e2e/long: reading, typing, signing in, languages, phones …
	@$(MAKE) browser-tests BROWSER_TESTS=test:long

.PHONY: test-runtimes
test-runtimes: tools-present standalone clients/typescript/node_modules/.installed e2e/runtimes/node_modules/.installed ## Run our client for TypeScript in Node, Bun and a worker
	@echo "== client in Node, Bun and a worker"
	@cd e2e/runtimes && npm run --silent test

.PHONY: browser-tests
browser-tests: tools-present ocr-present
ifdef SKIP_BROWSER
	@echo "== browser tests skipped (SKIP_BROWSER)"
else
	@CHROMIUM=$$(scripts/chromium); export CHROMIUM; \
	$(MAKE) standalone e2e/node_modules/.installed clients/typescript/node_modules/.installed web/node_modules/.installed; \
	echo "== browser tests ($(BROWSER_TESTS))"; \
	cd e2e && npm run --silent $(BROWSER_TESTS)
endif

# Tests with the build tag long are named TestLong.
.PHONY: test-production
test-production: tools-present postgres-present web/dist/index.html ## Run storms, rolling restarts, encryption, probes, backups, large uploads, tests on Postgres: about 15 minutes
	@echo "== tests with the build tag long"
	@cd standalone && go test -vet=off -tags long -run '^TestLong' -timeout 60m ./fullstack ./topology
	@cd examples/supportdesk && go test -vet=off -tags long -run '^TestLong' ./...

.PHONY: test-deploy
test-deploy: tools-present caddy-present ## Check and test the Helm chart, the container files, and what only benchmarks use
	@for module in $(LONG_MODULES); do \
		echo "== go test ($$module)"; \
		(cd $$module && go test -vet=off ./...); \
	done
	@$(MAKE) lint-modules LINTED="$(LONG_MODULES)"

.PHONY: test-race
test-race: tools-present postgres-present ocr-present web/dist/index.html tools/mcp/testservers/node_modules/.installed ## Run the product module's tests under the race detector
	@echo "== go test -race"
	@go test -race -vet=off -timeout 60m ./...

.PHONY: lint
lint: tools-present $(WORKFLOWCHECK) web/dist/index.html ## Run gofmt, vet, staticcheck, workflowcheck and tsc
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	@$(MAKE) lint-modules LINTED="$(MODULES)"
	@echo "== workflowcheck"
	@$(WORKFLOWCHECK) -config .workflowcheck.yaml ./workflows/... ./agents/... ./imports/flow ./documents/ingest ./app/prune
	@echo "== tsc"
	@cd web && npm run --silent typecheck

.PHONY: lint-modules
lint-modules: $(STATICCHECK)
	@for module in $(LINTED); do \
		echo "== vet and staticcheck ($$module)"; \
		(cd $$module && go vet -tags long ./... && "$(CURDIR)/$(STATICCHECK)" -tags long ./...); \
	done

.PHONY: bench
bench: standalone ## Measure first event, first token, turns per second, CPU, and stops (TURNS="-threads 1,8")
	@go -C bench run ./turns $(TURNS)
	@go -C bench run ./turns -stops

ROUNDS ?= 3

.PHONY: bench-peers
bench-peers: build postgres-present bench/peers/langgraph/node_modules/.installed ## Compare Palaver with LangGraph.js and DBOS under the same load, into docs/performance.md: about 45 minutes (ROUNDS=3, PEERS="-print")
	@scripts/go-build bench/peers/dbos bin/peer-dbos .
	@go -C bench run ./peers -rounds $(ROUNDS) $(PEERS)

.PHONY: bench-page
bench-page: standalone e2e/node_modules/.installed ## Measure the page: first paint, usable, bytes, long tasks while an answer streams, a long thread (BASE=path/to/another/binary compares, ROUNDS=3)
	@cd e2e && CHROMIUM="$$(../scripts/chromium)" node bench.mjs -rounds $(ROUNDS) $(abspath bin/palaver-standalone) $(BASE)

.PHONY: bench-quality
bench-quality: standalone ## Measure how well messages are understood, with and without a model, into docs/quality.md: about 2 minutes (QUALITY="-verbose")
	@go -C bench run ./quality -into ../docs/quality.md $(QUALITY)

.PHONY: bench-recall
bench-recall: ## Measure how well passages are found, into docs/quality.md: needs Postgres, downloads Debian's policy (RECALL="-obliqa path/to/ObliQADataset")
	@go -C bench run ./recall -into ../docs/quality.md $(RECALL)

.PHONY: storm
storm: build ## Kill and disconnect everything at random under load, on both stores: about 30 minutes (STORM="-short")
	@go -C bench run ./storm -store both $(STORM)

.PHONY: client-types
client-types: standalone ## Make the types of clients/typescript from the program's OpenAPI document
	@node -e 'import("./e2e/stack.mjs").then(async ({ startStack }) => { const stack = await startStack({}); require("child_process").execFileSync("node", ["clients/typescript/openapi.mjs", stack.url], { stdio: "inherit" }); await stack.stop(); })'

.PHONY: fuzz
fuzz: tools-present ## Run every fuzz target for a few seconds (FUZZTIME=10s)
	@scripts/fuzz $(MODULES)

.PHONY: generate
generate: tools-present ## Regenerate .env.example
	@go generate ./app/config

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

.PHONY: release
release: tools-present web/dist/index.html ## Write programs, bills of materials, licences and checksums to dist/ (PLATFORMS="linux/amd64")
	@scripts/release $(PLATFORMS)

.PHONY: vulnerabilities
vulnerabilities: tools-present web/node_modules/.installed ## Look for known vulnerabilities in dependencies; needs the network (SKIP_VULNERABILITIES=1 skips it)
ifdef SKIP_VULNERABILITIES
	@echo "== known vulnerabilities skipped (SKIP_VULNERABILITIES)"
else
	@$(MAKE) $(GOVULNCHECK) || true
	@GOVULNCHECK=$(GOVULNCHECK) scripts/vulnerabilities $(MODULES) $(LONG_MODULES)
endif

.PHONY: clean
clean: ## Remove build results, but no data or settings
	@rm -rf bin dist .tools web/node_modules e2e/node_modules e2e/clients/node_modules clients/typescript/node_modules clients/typescript/dist e2e/runtimes/node_modules e2e/langgraph/node_modules e2e/langgraph/dist tools/mcp/testservers/node_modules bench/peers/langgraph/node_modules
	@find web/dist -mindepth 1 ! -name .gitkeep -delete

.PHONY: tools-present
tools-present:
	@scripts/tools-present

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	@echo "== building the page"
	@cd web && npm run --silent build
	@touch web/dist/.gitkeep web/dist/index.html

e2e/langgraph/dist/index.html: e2e/langgraph/node_modules/.installed e2e/langgraph/index.html $(wildcard e2e/langgraph/src/*)
	@echo "== building the page of the LangGraph client"
	@cd e2e/langgraph && npm run --silent build
	@touch $@

# The zod versions that LangGraph.js requires conflict; --legacy-peer-deps accepts them.
bench/peers/langgraph/node_modules/.installed: bench/peers/langgraph/package-lock.json
	@echo "== installing LangGraph.js"
	@cd bench/peers/langgraph && npm ci --legacy-peer-deps --no-audit --no-fund --loglevel=error
	@touch $@

%/node_modules/.installed: %/package-lock.json
	@echo "== installing the packages of $*/"
	@cd $* && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(STATICCHECK):
	@echo "== installing staticcheck"
	@scripts/install-tool $@ honnef.co/go/tools/cmd/staticcheck

$(GOVULNCHECK):
	@echo "== installing govulncheck"
	@scripts/install-tool $@ golang.org/x/vuln/cmd/govulncheck

$(WORKFLOWCHECK):
	@echo "== installing workflowcheck"
	@scripts/install-tool $@ go.temporal.io/sdk/contrib/tools/workflowcheck
