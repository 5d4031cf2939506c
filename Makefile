# Three tiers: `make test` at each save, `make check` before a push, `make soak` before a release. `make` alone lists
# all targets. Needs Go, git, make and, for the race detector, a C compiler. Tools are pinned in internal/tools, and
# built on first use. .ci/modules says which module belongs to which tier.

# The supported releases of Go: the two newest, each pinned to a patch. The workflow in .github names them as well, and
# a rule compares. To raise a patch, edit both and run `make test-releases`. When a new release comes out, drop the
# older one, set the `go` line of go.mod to the one that remains, and correct README, docs/compatibility.md and doc.go.
RELEASES  := go1.26.8 go1.27.4
# Everything builds for these, too. linux/386 stands for all systems where an int has 32 bits.
TARGETS   := windows/amd64 darwin/arm64 linux/arm64 linux/386 js/wasm wasip1/wasm

GO        ?= go
TOOL      := $(CURDIR)/internal/tools/run
EACH      := .ci/each
FUZZ      ?= 1000x
FUZZ_LONG ?= 10000000x
BENCH     ?= Call
BENCHTIME ?= 1s
TURNS     ?= 10
OUT       ?= bench.out
SEED      ?= 1
N         ?= 150
JOBS      ?= 2

# In a container, git often refuses a checkout that another user owns. A check needs no commit in its programs.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -buildvcs=false)
# The workspace of this tree, whatever the environment says.
export GOWORK := $(CURDIR)/go.work
export GO

# The packages of a tier, by the third column of .ci/modules.
packages = $(shell awk '$$3 ~ /^($(1))$$/ && $$2 ~ /^(released|workspace)$$/ { sub(/^\.$$/, "", $$1); print "./" $$1 "/..." }' \
	.ci/modules | sed 's,^.//,./,')
SUITES  := $(addprefix ./internal/test/,dapi payments rules surfaces)
TEST    := $(filter-out ./internal/test/...,$(call packages,test)) $(SUITES)
CHECK   := $(call packages,test|check)
# Where goroutines are. The race detector makes a test three times as long.
RACE    := ./dapi/... ./fleet/... ./fleet/redis/... ./internal/transport/... ./payments/... \
	./internal/ratewindow/... ./internal/sessionfile/... ./payments/postgres/... ./payments/sqlite/... \
	./signing/... ./signing/wallet/... \
	$(addprefix ./sandbox/internal/,gate platform session store) \
	$(addprefix ./internal/test/,dapi fleet payments postgres)
# One package more than there are processors: some wait for processes that they start, or for a clock.
PARALLEL := -p $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
GOTEST   := $(TOOL) gotestsum --format pkgname --format-hide-empty-pkg --hide-summary skipped --
SOAK     := MONEYMOVEMENT_REQUIRE=soak,servers $(GO) test -count=1 -v -timeout 24h

.DEFAULT_GOAL := help
.PHONY: help test check check-static check-race check-rest soak soak-money soak-rest soak-releases lint lint-openapi \
	fmt-check build-all test-releases race rules generate drift tidy tidy-check modules api api-write breaking interop vulncheck \
	json-experiment allocations fuzz fuzz-long bench bench-host bench-payments bench-sizes bench-smoke \
	console-pictures contract mutants cover release release-check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

# --- the three tiers

test: ## run what everybody runs at each save: minutes, needs nothing but Go
	CGO_ENABLED=0 $(GOTEST) -short $(PARALLEL) $(TEST)

check: check-static check-race check-rest ## run the rest of what CI runs, before a push: a quarter of an hour

SOAKS := soak-money soak-rest soak-releases fuzz-long build-all release-check modules interop \
	json-experiment vulncheck mutants
soak: $(SOAKS) ## run what a release needs besides: hours

# --- the parts of check

check-static: fmt-check tidy-check lint lint-openapi drift breaking api ## lint, and compare what is generated, exported and required

check-race: ## run the tests with the race detector where goroutines are, those of the stores among them
	CGO_ENABLED=1 $(GOTEST) -race -timeout 15m $(PARALLEL) $(RACE)

check-rest: bench-smoke allocations ## run all other tests: command, contract, examples, pages, servers, browser, token
	CGO_ENABLED=0 $(GOTEST) -timeout 15m $(PARALLEL) $$($(GO) list $(CHECK) | grep -vxF "$$($(GO) list $(RACE))")
	GOWORK=off CGO_ENABLED=0 $(GO) build ./... # the SDK with the versions that its own go.mod selects, as users get it
	GOWORK=off CGO_ENABLED=0 $(GO) -C internal/tools test ./...
	GOWORK=off $(GO) -C examples/hsm test ./... # with cgo, if there is a C compiler

fmt-check: ## fail on files that gofmt -s would change
	@found=$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -s -l {} +) || exit 1; \
	test -z "$$found" || { echo "gofmt -s would change:"; echo "$$found"; exit 1; }

tidy-check: ## fail if a go.mod or go.sum is not tidy
	@.ci/tidy

lint: ## run golangci-lint with .golangci.yml, and actionlint (the first run builds them)
	$(EACH) $(TOOL) golangci-lint run
	GOWORK=off $(GO) -C internal/tools tool -modfile=actionlint.mod actionlint -shellcheck= -pyflakes= \
		$(CURDIR)/.github/workflows/*.yml

lint-openapi: ## lint the descriptions and their bundles with Redocly (skipped without Node.js or a network)
	@internal/test/interop/lint/check

drift: ## fail if generated code differs from its sources (works on a copy of the tree)
	@.ci/drift

breaking: ## fail if the descriptions would break clients of the last release
	@internal/test/interop/breaking/check

api: ## fail if the exported Go API differs from internal/tools/api/*.txt, or breaks users of the last tagged version
	@.ci/api

allocations: ## fail if a request allocates more than it may (without the race detector, which allocates itself)
	CGO_ENABLED=0 $(GO) test -count=1 -run '^Test(OneRead|Observer)CostsLittle$$' ./internal/transport

bench-smoke: ## run each benchmark of the SDK once, to see that it runs
	GOWORK=off CGO_ENABLED=0 $(GO) -C internal/tools test -run '^$$' -bench . -benchtime 1x ./bench

rules: ## check what no linter knows: wording, links, what is exported, modules and licences, small files, the workflow
	$(GO) test -count=1 ./internal/test/rules

# --- the parts of soak

soak-money: ## pay under faults, before a change of what moves money: 1,000 seeds, the storm, every broken rule
	MONEYMOVEMENT_REQUIRE=soak CGO_ENABLED=0 $(GO) test -count=1 -v -timeout 30m -skip '^TestAMillion' \
		./internal/test/simulation

soak-rest: ## kill processes and servers, break networks, cut the power, and make a million payments
	$(SOAK) -run '^TestAMillionPaymentsUnderFaults$$' ./internal/test/simulation
	$(SOAK) -parallel 2 ./internal/test/rig
	$(SOAK) -run '^(TestLossOfPower|TestStartWithAMillionPayments)$$' ./payments/sqlite
	$(SOAK) -run '^TestPaymentsThatStartAtOnceAreAllPaid$$' ./dapi
	GOWORK=off $(GO) -C examples/hsm test -tags cloud ./... # links the clients of the three clouds

soak-releases: ## run all tests with the race detector on the other supported release of Go, and compare generated code
	@.ci/releases 'race drift' $(RELEASES)

race: ## run the tests of the whole tree with the race detector
	CGO_ENABLED=1 $(GOTEST) -race -timeout 30m $(PARALLEL) $(CHECK)

test-releases: ## run make test on the supported releases of Go, except the installed one
	@.ci/releases test $(RELEASES)

json-experiment: ## test what reads JSON with the JSON v2 of Go 1.26, which is an experiment there
	GOEXPERIMENT=jsonv2 CGO_ENABLED=0 $(GO) test -short ./appapi ./dapi ./errors ./internal/codec ./internal/wire \
		./model ./public ./refapi

# The tools run on the machine that they are built on, and it takes minutes to build what they link. examples/hsm needs
# cgo, which does not build for another system, and go build would leave its program there. What needs a database or
# other processes is not for a system inside of another program.
ELSEWHERE := internal/tools examples/hsm
IN_A_PAGE := $(ELSEWHERE) cmd/moneymove examples fleet/redis internal/test payments/postgres payments/sqlite
build-all: ## build everything for other systems, and the tests for one where an int has 32 bits
	@for target in $(TARGETS); do \
		echo "build for $$target"; \
		case $$target in */wasm) skip="$(IN_A_PAGE)" ;; *) skip="$(ELSEWHERE)" ;; esac; \
		SKIP=$$skip CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(EACH) $(GO) build || exit 1; \
	done
	SKIP="$(ELSEWHERE)" CGO_ENABLED=0 GOOS=linux GOARCH=386 $(EACH) $(GO) vet

modules: ## use each module as its users do (go get, go build, go install), from a git repository made of the tree
	@.ci/users

vulncheck: ## fail if the code reaches a known vulnerability, or if the database of them cannot be reached
	@.ci/vulncheck

interop: ## check descriptions and host with independent tools and a second client (skipped without Node.js)
	@internal/test/interop/run

fuzz: ## run every fuzz target on FUZZ (1000x) inputs each
	@.ci/fuzz $(FUZZ)

fuzz-long: ## run the targets that read outside input on FUZZ_LONG (10000000x) inputs each (or ONLY='target ...')
	@nice .ci/fuzz -long $(FUZZ_LONG) $(ONLY)

mutants: ## change code in N (150; 0 is all) places and fail if tests notice under 88 % (SEED=1, ONLY=file,folder)
	$(TOOL) mutants -seed '$(SEED)' -n '$(N)' -jobs '$(JOBS)' -only '$(ONLY)' -again '$(AGAIN)'

bench: BENCHTIME := 200ms
bench: ## measure the SDK and others beside a client by hand (BENCH=Call, TURNS=10, OUT=bench.out: the raw figures)
	GOWORK=off CGO_ENABLED=0 $(GO) -C internal/tools test -c -o bench.test ./bench
	@echo "go: $$($(GO) env GOVERSION)" >$(OUT)
	@for turn in $$(seq $(TURNS)); do echo "turn $$turn"; \
		internal/tools/bench.test -test.run '^$$' -test.bench '$(value BENCH)' -test.benchtime $(BENCHTIME) >>$(OUT) || exit 1; \
	done
	@$(TOOL) benchstat -table go -col /side $(OUT)

bench-sizes: ## build a minimal program with each SDK, and print its size and what it links
	@internal/tools/bench/sizes

bench-host: ## measure the sandbox host on two cores: requests a second, pages of a long ledger, memory of payouts
	GOMAXPROCS=2 $(GO) test -run '^$$' -bench 'MixedRequests|Reads|Pages|New' -benchtime $(BENCHTIME) -benchmem ./sandbox
	$(GO) test -run '^$$' -bench MemoryOfPayouts -benchtime 10000x ./sandbox

bench-payments: ## measure the stores of payments: calls a second and their times, growth, start with a million
	$(SOAK) -run '^TestStartWithAMillionPayments$$' -bench . ./payments/sqlite
	$(SOAK) -run '^$$' -bench . ./payments/postgres

# --- what writes files

generate: ## write all generated code and pages
	$(GO) generate ./model # first: the generators of the surfaces read its types
	$(EACH) $(GO) generate

tidy: ## tidy every go.mod and go.sum
	@.ci/tidy -w

api-write: ## write the exported Go API to internal/tools/api/*.txt
	@.ci/api -w

console-pictures: ## write the pictures of both consoles to docs/pictures
	MONEYMOVEMENT_REQUIRE=browser $(GO) test -count=1 -run '^TestThePictures' ./internal/test/console -write

contract: ## compare the descriptions with the sandbox host or MONEYMOVEMENT_BASE_URL; writes contract-report/
	@rm -rf contract-report
	@status=0; MONEYMOVEMENT_CONTRACT_REPORT=$(CURDIR)/contract-report \
		$(GO) test -count=1 -timeout 30m ./internal/test/contract || status=$$?; \
	cat contract-report/summary.txt 2>/dev/null; exit $$status

cover: ## print the statement coverage of each function, the total last
	$(GO) test -coverpkg=$$(GOWORK=off $(GO) list -m)/... -coverprofile=cover.out $(CHECK)
	$(GO) tool cover -func=cover.out

# --- releases

# The systems that a release is for. The first of RELEASES builds it, and the Containerfile names the same one.
SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
release: ## write archives of the command for SYSTEMS to dist/, with bills of materials and checksums
	@GOTOOLCHAIN=$(firstword $(RELEASES)) .ci/release $(SYSTEMS)

release-check: ## build SYSTEMS twice, compare, look into dist/, try the Containerfile (SYSTEMS=linux/amd64: shorter)
	@GOTOOLCHAIN=$(firstword $(RELEASES)) .ci/release -check $(SYSTEMS)
