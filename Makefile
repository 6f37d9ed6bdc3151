SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

STATICCHECK  := .tools/staticcheck-v0.8.2
WORKFLOWCHECK := .tools/workflowcheck-v0.6.0
GOVULNCHECK  := .tools/govulncheck-v1.1.4

# The Go modules: the product, the one-process program with its servers, the tests of the
# Dockerfile, docker-compose.yml and Helm chart, and an example of a program with additions.
MODULES := . standalone docker deploy examples/supportdesk
# Modules that only benchmarks use.
BENCH_MODULES := bench/peers/dbos bench/scale/temporal

WEB_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*')

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: standalone ## Build and start everything in one process (page on :8080, Temporal Web UI on :8233)
	@exec bin/palaver-standalone

.PHONY: build
build: standalone ## Build the page and both binaries into bin/
	@scripts/go-build . bin/palaver ./cmd/palaver

.PHONY: standalone
standalone: tools-present web/dist/index.html
	@scripts/go-build standalone bin/palaver-standalone .

.PHONY: test
test: browser-present postgres-present test-go test-web test-clients test-topology test-browser ## Run every test: Go modules, unit tests of the page, clients, topology, browser (SKIP_BROWSER=1 skips the browser)

# Without a browser the tests must fail before the build, not minutes later.
.PHONY: browser-present
browser-present:
ifndef SKIP_BROWSER
	@scripts/chromium > /dev/null
endif

.PHONY: postgres-present
postgres-present:
	@scripts/postgres

.PHONY: caddy-present
caddy-present:
	@scripts/caddy

# Without go test's own vet, which covers a part of what `make lint` checks and would read
# every dependency, Temporal's server included, once more.
.PHONY: test-go
test-go: tools-present postgres-present caddy-present web/dist/index.html internal/mcp/testservers/node_modules/.installed ## Run the Go tests of all modules
	@for module in $(MODULES); do \
		scripts/go-build $$module /dev/null ./...; \
		echo "== go test ($$module)"; \
		(cd $$module && go test -vet=off -timeout 30m ./...); \
	done

.PHONY: test-web
test-web: tools-present web/node_modules/.installed ## Run the unit tests of the page
	@echo "== unit tests of the page"
	@cd web && npm run --silent test

.PHONY: test-clients
test-clients: tools-present standalone e2e/clients/node_modules/.installed ## Run the client libraries of the AI SDK, assistant-ui, AG-UI and OpenAI against the binary
	@echo "== client libraries"
	@cd e2e/clients && npm run --silent test

.PHONY: test-topology
test-topology: build postgres-present ## Run the separate processes of production: rolling restarts, encryption, probes, backups: about three minutes
	@scripts/go-build bench/scale/temporal bin/bench-temporal .
	@echo "== topology"
	@if ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1; then go run ./bench/topology; else echo "skipped: no Postgres is installed"; fi

.PHONY: test-browser
test-browser: tools-present ## Run the browser tests against the binary
ifdef SKIP_BROWSER
	@echo "== browser tests skipped (SKIP_BROWSER)"
else
	@CHROMIUM=$$(scripts/chromium); export CHROMIUM; \
	$(MAKE) standalone e2e/node_modules/.installed e2e/langgraph/dist/index.html; \
	echo "== browser tests"; \
	cd e2e && npm run --silent test
endif

.PHONY: lint
lint: tools-present $(STATICCHECK) $(WORKFLOWCHECK) web/dist/index.html ## Run gofmt, vet, staticcheck, workflowcheck and tsc
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	@for module in $(MODULES) $(BENCH_MODULES); do \
		echo "== vet and staticcheck ($$module)"; \
		(cd $$module && go vet ./... && "$(CURDIR)/$(STATICCHECK)" ./...); \
	done
	@echo "== workflowcheck"
	@$(WORKFLOWCHECK) -config .workflowcheck.yaml ./workflows/...
	@echo "== tsc"
	@cd web && npm run --silent typecheck

.PHONY: race
race: tools-present internal/mcp/testservers/node_modules/.installed ## Run the product module's tests under the race detector
	@go test -race -timeout 20m ./...

.PHONY: bench
bench: standalone ## Measure first event, first token, turns per second, fairness between users, and stops
	@go run ./bench/turns -server bin/palaver-standalone
	@go run ./bench/fairness -server bin/palaver-standalone
	@go run ./bench/stop -server bin/palaver-standalone

ROUNDS ?= 3

.PHONY: bench-peers
bench-peers: build postgres-present bench/peers/langgraph/node_modules/.installed ## Compare Palaver with LangGraph.js and DBOS under the same load, into docs/performance.md: about 45 minutes (ROUNDS=3, PEERS="-print")
	@scripts/go-build bench/peers/dbos bin/peer-dbos .
	@go run ./bench/peers -server bin/palaver-standalone -palaver bin/palaver -dbos bin/peer-dbos -rounds $(ROUNDS) $(PEERS)

.PHONY: bench-scale
bench-scale: build postgres-present ## Count what a turn costs on a Temporal cluster with Postgres, into docs/performance.md
	@scripts/go-build bench/scale/temporal bin/bench-temporal .
	@go run ./bench/scale

.PHONY: bench-limits
bench-limits: build postgres-present ## Measure 1,000 open streams, 1,000 idle pages, a restart with 1,000 open threads, 10,000 idle threads, 50,000 passages: about 15 minutes
	@go run ./bench/streams
	@go run ./bench/idle
	@go run ./bench/search

.PHONY: bench-plans
bench-plans: postgres-present ## Read the plans of all statements, and time turns, retrieval and lists, with 306,000 passages and 600,000 messages; fails when one reads a large table without an index
	@PLANS_OWNERS=5000 go test -count=1 -timeout 30m -run TestNoStatementOfATurnOrAListScansALargeTable ./db/postgres
	@go run ./bench/plans -owners 5000

.PHONY: bench-quality
bench-quality: standalone ## Measure how well messages are understood, with and without a model, into docs/quality.md: about 2 minutes (QUALITY="-verbose")
	@go run ./bench/quality -into docs/quality.md $(QUALITY)

.PHONY: bench-recall
bench-recall: ## Measure how well passages are found, into docs/quality.md: needs Postgres, downloads Debian's policy (RECALL="-obliqa path/to/ObliQADataset")
	@go run ./bench/recall -into docs/quality.md $(RECALL)

.PHONY: bench-page
bench-page: standalone e2e/node_modules/.installed ## Measure the page in a browser: opening, scrolling, typing while an answer streams (ROUNDS=5)
	@CHROMIUM=$$(scripts/chromium) node bench/page/page.mjs

.PHONY: chaos
chaos: build ## Kill and disconnect everything at random under load, on both stores: about 30 minutes (CHAOS="-short")
	@go run ./bench/chaos -server bin/palaver-standalone -palaver bin/palaver -store both $(CHAOS)

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

.PHONY: audit
audit: tools-present web/node_modules/.installed ## Look for known vulnerabilities in Palaver's dependencies; needs the network
	@$(MAKE) $(GOVULNCHECK) || true
	@GOVULNCHECK=$(GOVULNCHECK) scripts/audit $(MODULES)

.PHONY: clean
clean: ## Remove build results, but no data or settings
	@rm -rf bin dist .tools web/node_modules e2e/node_modules e2e/clients/node_modules e2e/langgraph/node_modules e2e/langgraph/dist internal/mcp/testservers/node_modules bench/peers/langgraph/node_modules
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
