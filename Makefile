# Everything that CI runs, one target each. `make` alone lists them.
# Needs Go, git, make and, for the race detector, a C compiler. Tools are pinned in internal/tools and built on first use.
# What runs over packages runs over those of all modules, which .ci/modules lists: .ci/each does that.

# The supported releases of Go: the two newest, each pinned to a patch. They are named here and nowhere else in what runs. To raise a
# patch, edit the line and run `make test-releases`. When a new release comes out, drop the older one as well, set the `go` line of go.mod
# to what remains, and correct README and doc.go.
RELEASES  := go1.26.8 go1.27.4
# What everything builds for besides this machine. linux/386 stands for all where an int has 32 bits.
TARGETS   := windows/amd64 darwin/arm64 linux/arm64 linux/386 js/wasm wasip1/wasm

GO        ?= go
TOOL      := $(CURDIR)/internal/tools/run
EACH      := .ci/each
FUZZ      ?= 50000x
FUZZ_LONG ?= 10000000x
BENCH     ?= .
BENCHTIME ?= 1s
SEED      ?= 1
N         ?= 150
JOBS      ?= 2

# In a container, git often refuses a checkout that another user owns; a check needs no commit stamped into its programs.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -buildvcs=false)
# This tree's workspace, and no other.
export GOWORK := $(CURDIR)/go.work
export GO

.DEFAULT_GOAL := help
.PHONY: help test allocations lint fmt-check vet build build-all test-releases rules generate drift english tidy tidy-check modules breaking interop fuzz bench bench-host bench-memory load recordings contract mutants cover check gosec staticcheck vulncheck sbom fuzz-long

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile

test: ## run every test with the race detector (without a C compiler it says so, and runs them without), and count them
	@.ci/test

allocations: ## hold the request path to its allocations, which the race detector's own would hide
	$(GO) test -count=1 -run '^TestOneReadCostsLittle$$' ./internal/transport
	GOWORK=off $(GO) -C internal/bench test -count=1 -run '^TestAllocations$$' .

lint: ## run golangci-lint as .golangci.yml says (the first run builds it)
	$(EACH) $(TOOL) golangci-lint run

# Each is told what .golangci.yml tells the linter of the same name, which reads `nolint` besides.
gosec: ## run gosec by itself (the first run builds it)
	$(EACH) -apart $(TOOL) gosec -quiet -exclude-generated -exclude=G104,G304 \
		-exclude-rules='(^|/)internal/(tools|suites/contract/assumptions|suites/contrary/table)/:G301,G303,G304,G306,G703;(^|/)internal/tools/(modproxy|mutants)/:G204;(^|/)internal/recorded/:G704,G705'

staticcheck: ## run staticcheck by itself (the first run builds it)
	$(EACH) $(TOOL) staticcheck -checks all,-ST1000,-ST1003,-ST1020,-ST1021,-ST1022

vulncheck: ## fail if the code reaches a known vulnerability (without a network, a line says that none was looked for)
	@.ci/vulncheck

sbom: ## write what the command is linked from to bin/moneymove.cdx.json, in CycloneDX
	@.ci/sbom

fmt-check: ## fail on files that gofmt -s would change
	@found=$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -s -l {} +) || exit 1; \
	test -z "$$found" || { echo "gofmt -s would change:"; echo "$$found"; exit 1; }

vet: ## run go vet
	$(EACH) $(GO) vet

build: ## build everything without cgo
	CGO_ENABLED=0 $(EACH) $(GO) build

build-all: ## build everything for other systems, tests too where an int has 32 bits
	@for target in $(TARGETS); do \
		echo "build for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(EACH) $(GO) build || exit 1; \
	done
	CGO_ENABLED=0 GOOS=linux GOARCH=386 $(EACH) $(GO) vet

test-releases: ## build, vet and test on the supported releases of Go but the installed one
	@.ci/releases $(RELEASES)

rules: ## check who imports whom, the hygiene of the tree, the length of lines, and the phrases to avoid
	$(GO) test -count=1 ./internal/suites/rules

english: ## list the long lines and the phrases to avoid in all folders, also in those that the rule does not hold yet
	$(GO) test -count=1 -run '^TestPlainEnglish$$' ./internal/suites/rules -everywhere

generate: ## write all generated code anew
	$(GO) generate ./model # first: the generators of the surfaces read its types
	$(EACH) $(GO) generate

drift: ## fail if generated code differs from its sources (works on a copy, the tree stays as it is)
	@.ci/drift

tidy: ## tidy every go.mod and go.sum
	@.ci/tidy -w

tidy-check: ## fail if a go.mod or go.sum is not tidy
	@.ci/tidy

modules: ## try what users get of each module: go get, go install and the size of the module graph, from a proxy made of the tree
	@.ci/users

breaking: ## fail if the descriptions would break clients of the last released ones
	@interop/breaking/check

interop: ## check descriptions and host with tools and a client of others (needs Node.js; skipped without)
	@interop/run

fuzz: ## run every fuzz target on FUZZ (50000x) inputs each
	@.ci/fuzz $(FUZZ)

fuzz-long: ## run the fuzz targets of all that comes from outside on FUZZ_LONG (10000000x) inputs each (ONLY='target ...' runs these)
	@nice .ci/fuzz-long $(FUZZ_LONG) $(ONLY)

bench: ## run the benchmarks (BENCH=regexp, BENCHTIME=1s)
	GOWORK=off $(GO) -C internal/bench test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem .

bench-host: ## measure how many requests a second the sandbox host serves, in process on two cores
	GOMAXPROCS=2 $(GO) test -run '^$$' -bench MixedRequests -benchtime $(BENCHTIME) -benchmem ./sandbox

bench-memory: ## measure how much memory finished payouts hold in the sandbox host, kept and forgotten
	$(GO) test -run '^$$' -bench MemoryOfPayouts -benchtime 10000x ./sandbox

load: ## start 10,000 payments at once, in hours of a virtual clock, and hold them to the service's windows
	MONEYMOVEMENT_LOAD_PAYMENTS=10000 $(GO) test -count=1 -v -run '^TestPaymentsThatStartAtOnceAreAllPaid$$' ./dapi

recordings: ## record the host's answers to the examples of the SDK's packages anew
	$(GO) test -count=1 -run '^TestTheRecordingsAreTheHostsAnswers$$' ./internal/suites/recordings -write

contract: ## hold the description against the sandbox host, or the one that MONEYMOVEMENT_BASE_URL names; reports into contract-report/
	@rm -rf contract-report
	@status=0; MONEYMOVEMENT_CONTRACT_REPORT=$(CURDIR)/contract-report $(GO) test -count=1 -timeout 30m ./internal/suites/contract || status=$$?; \
	cat contract-report/summary.txt 2>/dev/null; exit $$status

mutants: ## change the SDK's code in N (150, 0 for all) places that SEED picks, or ONLY=a/file.go,a/folder; fail if the tests notice under 95 %
	$(TOOL) mutants -seed '$(SEED)' -n '$(N)' -jobs '$(JOBS)' -only '$(ONLY)' -again '$(AGAIN)'

cover: ## print the statement coverage of each function, the total last
	$(GO) test -coverpkg=$$(GOWORK=off $(GO) list -m)/... -coverprofile=cover.out ./... ./signing/wallet/... ./sandbox/... ./internal/suites/...
	$(GO) tool cover -func=cover.out

check: ## run all that CI runs
	.ci/run
