# Everything that CI runs, one target each. `make` alone lists them. Needs Go, git, make and, for the race detector, a C
# compiler. Tools are pinned in internal/tools and built on first use. A target that runs over packages covers all
# modules of .ci/modules. The script .ci/each does that.

# The supported releases of Go: the two newest, each pinned to a patch. The workflow in .github names them as well, and
# `make rules` compares. To raise a patch, edit both and run `make test-releases`. When a new release comes out, drop
# the older one, set the `go` line of go.mod to the one that remains, and correct README, docs/compatibility.md and
# doc.go.
RELEASES  := go1.26.8 go1.27.4
# Everything builds for these, too. linux/386 stands for all systems where an int has 32 bits.
TARGETS   := windows/amd64 darwin/arm64 linux/arm64 linux/386 js/wasm wasip1/wasm

GO        ?= go
TOOL      := $(CURDIR)/internal/tools/run
EACH      := .ci/each
FUZZ      ?= 50000x
FUZZ_LONG ?= 10000000x
BENCH     ?=
BENCHTIME ?= 1s
SEED      ?= 1
N         ?= 150
JOBS      ?= 2

# In a container, git often refuses a checkout that another user owns. A check needs no commit in its programs.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -buildvcs=false)
# The workspace of this tree, whatever the environment says.
export GOWORK := $(CURDIR)/go.work
export GO

.DEFAULT_GOAL := help
.PHONY: help test allocations lint gosec staticcheck vulncheck release release-check fmt-check vet build build-all \
	test-releases rules english generate drift tidy tidy-check modules api api-write breaking interop fuzz fuzz-long \
	bench bench-write bench-long bench-host bench-memory bench-payments load storm fleet console console-pictures pages \
	simulation soak soak-simulation soak-rig soak-sqlite recordings contract mutants cover check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

test: ## run all tests with the race detector (without it, and saying so, if there is no C compiler), and count them
	@.ci/test

allocations: ## fail if a request allocates more than it may (without the race detector, which allocates itself)
	$(GO) test -count=1 -run '^TestOneReadCostsLittle$$' ./internal/transport
	GOWORK=off $(GO) -C bench test -count=1 -run '^TestAllocations$$' .

lint: ## run golangci-lint with .golangci.yml (the first run builds it)
	$(EACH) $(TOOL) golangci-lint run

# The exceptions of .golangci.yml for gosec: a path and the rules that do not count there.
GOSEC_EXCEPT := (^|/)internal/(tools|suites/contract/assumptions|suites/contrary/table)/:G301,G303,G304,G306,G703
GOSEC_EXCEPT := $(GOSEC_EXCEPT);(^|/)bench/:G204,G304,G306,G703;(^|/)sandbox/internal/described/cut/:G306
GOSEC_EXCEPT := $(GOSEC_EXCEPT);(^|/)internal/(rig|servers|tools/(modproxy|mutants))/:G204;(^|/)internal/recorded/:G704,G705

# These two have the settings of .golangci.yml for the linter of the same name. That linter reads `nolint` as well.
gosec: ## run gosec alone (the first run builds it)
	$(EACH) -apart $(TOOL) gosec -quiet -exclude-generated -exclude=G104,G304 \
		-exclude-rules='$(GOSEC_EXCEPT)'

staticcheck: ## run staticcheck alone (the first run builds it)
	$(EACH) $(TOOL) staticcheck -checks all,-ST1000,-ST1003,-ST1020,-ST1021,-ST1022

vulncheck: ## fail if the code reaches a known vulnerability (skipped without a network, with a message)
	@.ci/vulncheck

# The systems that a release is for. The first of RELEASES builds it, and the Containerfile names the same one.
SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
release: ## write archives of the command for SYSTEMS to dist/, with bills of materials and checksums
	@GOTOOLCHAIN=$(firstword $(RELEASES)) .ci/release $(SYSTEMS)

release-check: ## build SYSTEMS twice, compare, look into dist/, try the Containerfile (SYSTEMS=linux/amd64: shorter)
	@GOTOOLCHAIN=$(firstword $(RELEASES)) .ci/release -check $(SYSTEMS)

fmt-check: ## fail on files that gofmt -s would change
	@found=$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -s -l {} +) || exit 1; \
	test -z "$$found" || { echo "gofmt -s would change:"; echo "$$found"; exit 1; }

vet: ## run go vet
	$(EACH) $(GO) vet

build: ## build everything without cgo
	CGO_ENABLED=0 $(EACH) $(GO) build

# The rig of bench, the tools and the Temporal recipe run on the machine that they are built on, and it takes minutes
# to build what they link. What needs a database or other processes is not for a system inside of another program.
ELSEWHERE := bench examples/temporal internal/tools
IN_A_PAGE := $(ELSEWHERE) cmd/moneymove examples fleet/postgres fleet/redis internal/rig internal/simulation \
	internal/suites payments/postgres payments/sqlite sandbox/bolt
build-all: ## build everything for other systems, and the tests for one where an int has 32 bits
	@for target in $(TARGETS); do \
		echo "build for $$target"; \
		case $$target in */wasm) skip="$(IN_A_PAGE)" ;; *) skip="$(ELSEWHERE)" ;; esac; \
		SKIP=$$skip CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(EACH) $(GO) build || exit 1; \
	done
	SKIP="$(ELSEWHERE)" CGO_ENABLED=0 GOOS=linux GOARCH=386 $(EACH) $(GO) vet

test-releases: ## build, vet and test on the supported releases of Go, except the installed one
	@.ci/releases $(RELEASES)

rules: ## check imports between packages, licences, file names and sizes, line lengths and wording
	$(GO) test -count=1 ./internal/suites/rules

english: ## list long lines and phrases to avoid, by folder (make rules checks this as well)
	$(GO) test -count=1 -run '^TestPlainEnglish$$' ./internal/suites/rules

generate: ## write all generated code and pages
	$(GO) generate ./model # first: the generators of the surfaces read its types
	$(EACH) $(GO) generate

drift: ## fail if generated code differs from its sources (works on a copy of the tree)
	@.ci/drift

tidy: ## tidy every go.mod and go.sum
	@.ci/tidy -w

tidy-check: ## fail if a go.mod or go.sum is not tidy
	@.ci/tidy

modules: ## use each module as its users do (go get, go build, go install), from a proxy made of the tree
	@.ci/users

api: ## fail if the exported Go API differs from api/*.txt, or breaks users of the last tagged version
	@.ci/api

api-write: ## write the exported Go API to api/*.txt
	@.ci/api -w

breaking: ## fail if the descriptions would break clients of the last release
	@interop/breaking/check

interop: ## check descriptions and host with independent tools and a second client (skipped without Node.js)
	@interop/run

fuzz: ## run every fuzz target on FUZZ (50000x) inputs each
	@.ci/fuzz $(FUZZ)

fuzz-long: ## run the targets that read outside input on FUZZ_LONG (10000000x) inputs each (or ONLY='target ...')
	@nice .ci/fuzz-long $(FUZZ_LONG) $(ONLY)

bench: ## measure the SDK, and fail if a row is worse than bench/results.json says (BENCH='-rows regexp -turns 10')
	GOWORK=off $(GO) -C bench run . $(BENCH)

bench-write: ## measure on both releases of Go, and write bench/RESULTS.md, the chart and the README
	GOWORK=off $(GO) -C bench run . -write -releases '$(RELEASES)' $(BENCH)

bench-long: ## make a million calls, and read a million ledger entries: prints how much memory is held
	GOWORK=off $(GO) -C bench run . -measure - -parts load

bench-host: ## measure how many requests a second the sandbox host serves, on two cores
	GOMAXPROCS=2 $(GO) test -run '^$$' -bench MixedRequests -benchtime $(BENCHTIME) -benchmem ./sandbox

bench-memory: ## measure how much memory the sandbox host needs for finished payouts
	$(GO) test -run '^$$' -bench MemoryOfPayouts -benchtime 10000x ./sandbox

bench-payments: ## measure the stores of payments: calls a second and their times, growth, start with a million
	MONEYMOVEMENT_SQLITE_PAYMENTS=1000000 $(GO) test -count=1 -v -timeout 30m -run '^TestStartWithAMillionPayments$$' \
		-bench . ./payments/sqlite
	MONEYMOVEMENT_FLEET=required $(GO) test -timeout 30m -run '^$$' -bench . ./payments/postgres

load: ## start 10,000 payments at once on a virtual clock, and check that all are paid within the rate windows
	MONEYMOVEMENT_LOAD_PAYMENTS=10000 $(GO) test -count=1 -v -run '^TestPaymentsThatStartAtOnceAreAllPaid$$' ./dapi

simulation: ## pay under faults, 10,000 payments a program, run 1,000 seeds twice, and break every rule once
	MONEYMOVEMENT_SIMULATION_SEEDS=1000 MONEYMOVEMENT_SIMULATION_PAYMENTS=10000 MONEYMOVEMENT_SIMULATION_POWER=400 \
		MONEYMOVEMENT_SIMULATION_FILES=200 $(GO) test -count=1 -timeout 30m -v ./internal/simulation

storm: ## make 10,000 payments at 20 % faults, and break every rule of them, on a virtual clock
	MONEYMOVEMENT_SIMULATION_PAYMENTS=10000 $(GO) test -count=1 -timeout 15m -v \
		-run '^(TestPaymentsUnderFaults|TestACrashAtEveryStep|TestEveryBrokenRuleIsNoticed)$$/^(payments.*)?$$' \
		./internal/simulation

# The commands run as their users build them, without the race detector. Their own tests have it.
pages: ## run every command and block of the docs as a reader does (needs bash, curl, openssl and python3)
	$(GO) test -count=1 -timeout 15m ./examples ./cmd/moneymove \
		-run '^(TestEachBlockOfTheFlowPagesRuns|TestTheReadmeLeadsToAPaymentWithoutGo|TestTheExamplesOfThePageRun)$$'

console: ## run the tests of the host's page in headless Chromium; installs Debian's package where it may
	@.ci/console

console-pictures: ## write the pictures of the host's page to docs/pictures
	@.ci/console -run '^TestThePictures$$' -write

fleet: ## run the tests that need PostgreSQL and Redis; installs Debian's packages where it may
	@.ci/fleet

# The sizes of `make soak`. SOAK_PAYMENTS are made in the simulation, by SOAK_PARTS programs at once. SOAK_PROXY are
# made through Toxiproxy, and once more on a host at which 30 % of the requests for payments fail.
SOAK_PAYMENTS ?= 1000000
SOAK_PARTS    ?= 2
SOAK_KILLS    ?= 2000
SOAK_OUTAGES  ?= 100
SOAK_PROXY    ?= 20000
SOAK_TIMEOUT  ?= 24h

soak: soak-simulation soak-rig soak-sqlite ## the next three, for hours (SOAK_KILLS=100 and so on: shorter)

soak-simulation: ## make a million payments at 30 % faults on a virtual clock
	pids=; for part in $$(seq $(SOAK_PARTS)); do \
		MONEYMOVEMENT_SIMULATION_PART=$$part MONEYMOVEMENT_SIMULATION_PARTS=$(SOAK_PARTS) \
		MONEYMOVEMENT_SIMULATION_FAULTS=30 MONEYMOVEMENT_SIMULATION_PAYMENTS=$(SOAK_PAYMENTS) \
		$(GO) test -count=1 -v -timeout $(SOAK_TIMEOUT) -run '^TestPaymentsUnderFaults$$/^payments$$' \
		./internal/simulation & pids="$$pids $$!"; done; for pid in $$pids; do wait $$pid || exit 1; done

soak-rig: ## kill processes and servers, and break networks, in real time; prints figures
	MONEYMOVEMENT_SOAK_SQLITE_KILLS=$(SOAK_KILLS) MONEYMOVEMENT_SOAK_POSTGRES_KILLS=$(SOAK_KILLS) \
		MONEYMOVEMENT_SOAK_POSTGRES_OUTAGES=$(SOAK_OUTAGES) MONEYMOVEMENT_SOAK_REDIS_OUTAGES=$(SOAK_OUTAGES) \
		MONEYMOVEMENT_SOAK_PROXY_PAYMENTS=$(SOAK_PROXY) MONEYMOVEMENT_SOAK_FAULT_PAYMENTS=$(SOAK_PROXY) \
		MONEYMOVEMENT_SOAK_FLEET_SECONDS=60 MONEYMOVEMENT_FLEET=required \
		$(GO) test -count=1 -v -parallel 2 -timeout $(SOAK_TIMEOUT) ./internal/rig/soak

soak-sqlite: ## cut the power of the SQLite store, kill its process, and start it with a million payments
	MONEYMOVEMENT_SQLITE_CRASHES=$(SOAK_KILLS) MONEYMOVEMENT_SQLITE_KILLS=$(SOAK_KILLS) \
		MONEYMOVEMENT_SQLITE_PAYMENTS=$(SOAK_PAYMENTS) $(GO) test -count=1 -v -timeout $(SOAK_TIMEOUT) \
		-run '^(TestLossOfPower|TestKilledProcesses|TestStartWithAMillionPayments)$$' ./payments/sqlite

recordings: ## record the host's responses to the examples in the packages' documentation
	$(GO) test -count=1 -run '^TestTheRecordingsAreTheHostsAnswers$$' ./internal/suites/recordings -write

contract: ## compare the descriptions with the sandbox host or MONEYMOVEMENT_BASE_URL; writes contract-report/
	@rm -rf contract-report
	@status=0; MONEYMOVEMENT_CONTRACT_REPORT=$(CURDIR)/contract-report \
		$(GO) test -count=1 -timeout 30m ./internal/suites/contract || status=$$?; \
	cat contract-report/summary.txt 2>/dev/null; exit $$status

mutants: ## change code in N (150; 0 is all) places and fail if tests notice under 95 % (SEED=1, ONLY=file,folder)
	$(TOOL) mutants -seed '$(SEED)' -n '$(N)' -jobs '$(JOBS)' -only '$(ONLY)' -again '$(AGAIN)'

cover: ## print the statement coverage of each function, the total last
	$(GO) test -coverpkg=$$(GOWORK=off $(GO) list -m)/... -coverprofile=cover.out \
		./... ./signing/wallet/... ./sandbox/... ./fleet/redis/... ./fleet/postgres/... \
		./payments/otel/... ./payments/postgres/... ./payments/sqlite/... ./internal/simulation/... \
		./internal/contract/... ./internal/suites/...
	$(GO) tool cover -func=cover.out

check: ## run all that CI runs
	.ci/run
