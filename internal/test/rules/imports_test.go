package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// floors lists the rooms of the modules that are worked on together from the ground up. A room is a folder with all
// below it, "." the root package alone. A package imports from its own room and from the floors below, never from its
// own floor's other rooms: that keeps the surfaces apart, and the sandbox out of the SDK.
var floors = [][]string{
	{"internal/codec", "internal/errorbase", "internal/hidden", "internal/inprocess", "internal/plaintext",
		"internal/shell", "internal/tier", "payments/postgres/internal/sqlname"},
	{"internal/servers"},
	{"errors"},
	{".", "internal/outcome"},
	{"signing", "internal/ratewindow", "internal/wire"},
	{"internal/transport", "internal/surfacetest"},
	{"model"},
	{"internal/answers", "internal/cardproof"},
	{"dapi", "appapi", "refapi", "public", "recorded"},
	{"fleet", "payments"}, // the last floor of the SDK
	{"payments/postgres/fleetpostgres", "fleet/redis", "otel", "payments/postgres", "payments/sqlite"},
	{"openapi", "internal/fleettest"},
	{"cmd/moneymove/contract", "sandbox"},
	{"cmd", "examples"},
	{"internal/test"},
}

// sdkFloors is how many floors, from the ground, a program that uses the SDK builds upon.
const sdkFloors = 10

// sandboxMayImport keeps the host an independent reading of the service's description: an SDK that shares its models or
// its request path would agree with its own mistakes.
var sandboxMayImport = []string{"sandbox", "openapi", "signing", "internal/inprocess", "internal/shell"}

// wallet is the one package that imports Ethereum's libraries, which are large and not needed with developer keys.
const (
	wallet     = "signing/wallet"
	goEthereum = "github.com/ethereum/go-ethereum"
)

// jsonDoor is the SDK's one importer of JSON v2's module, so that leaving it for the standard library's is a change of
// one file. The host, which nobody links with the SDK, imports it itself.
const (
	jsonDoor   = "internal/codec"
	jsonModule = "github.com/go-json-experiment/json"
)

// sdkModules lists what a user of the SDK takes on, and why each is worth it.
var sdkModules = []string{
	jsonModule,                              // JSON v2: strict and fast
	"github.com/google/uuid",                // ids of webhook requests
	"github.com/hashicorp/go-cleanhttp",     // of go-retryablehttp
	"github.com/hashicorp/go-retryablehttp", // the back-off
	"github.com/oapi-codegen/nullable",      // absent, null or a value in PATCH bodies
	"github.com/shopspring/decimal",         // money
	"github.com/youmark/pkcs8",              // developer keys under a passphrase
	"golang.org/x/crypto",                   // of pkcs8
	"golang.org/x/sync",                     // the line in front of a rate window
}

// walletModules come on top for those who import signing/wallet.
var walletModules = []string{
	goEthereum,
	"github.com/decred/dcrd/dcrec/secp256k1/v4",
	"github.com/holiman/uint256",
	"golang.org/x/sys",
}

// recordings are the host's responses. Each package of them may be imported by the one after it, and by tests.
var recordings = []string{"recorded"}

// testModules never leave test files, also not in the sandbox, which other people's tests import.
var testModules = []string{
	"github.com/c2sp/wycheproof",
	"github.com/jarcoal/httpmock",
	"github.com/ledongthuc/pdf",
	"github.com/stretchr/testify",
	"pgregory.net/rapid",
}

// importRules are the rules that the modules are held to; each returns what breaks it.
var importRules = map[string]func(graph) []string{
	"every package has a room":            homeless,
	"imports go down only":                upward,
	"the sandbox is independent":          sandboxReaches,
	"one importer of go-ethereum":         ethereum,
	"one importer of JSON v2":             jsonV2,
	"the SDK's modules are the listed":    unlistedModules,
	"test modules stay in the test files": testOnly,
}

// What stands in the files keeps the rules.
func TestImports(t *testing.T) {
	hold(t, read(t))
}

// What other modules import counts as well.
func TestLinkedModules(t *testing.T) {
	g := load(t)
	hold(t, g)
	t.Run("every listed module is needed", func(t *testing.T) { assert.Empty(t, unneededModules(g)) })
	found := read(t)
	for _, n := range g.own() {
		assert.ElementsMatch(t, n.imports, found[n.path].imports, "TestImports sees other imports of %s", n.path)
	}
	assert.Len(t, found.own(), len(g.own()))
}

func hold(t *testing.T, g graph) {
	t.Helper()
	require.Greater(t, len(g.own()), 100, "next to nothing was found")
	require.NotEmpty(t, g.chain(module+"/"+wallet, isEthereum), "the graph misses an import that is known to exist")
	for name, rule := range importRules {
		t.Run(name, func(t *testing.T) { assert.Empty(t, rule(g)) })
	}
}

// room returns a package's room and its floor, counted from the ground, or -1. A room can be inside another one, such
// as an engine in the folder of what it drives.
func room(path string) (name string, floor int) {
	floor = -1
	for i, rooms := range floors {
		for _, r := range rooms {
			inside := short(path) == r || r != "." && strings.HasPrefix(short(path), r+"/")
			if inside && len(r) > len(name) {
				name, floor = r, i
			}
		}
	}
	return name, floor
}

func inSDK(n node) bool {
	_, floor := room(n.path)
	return floor >= 0 && floor < sdkFloors
}

func isEthereum(n node) bool { return n.module == goEthereum }

func homeless(g graph) (found []string) {
	for _, n := range g.own() {
		if _, floor := room(n.path); floor < 0 {
			found = append(found, short(n.path)+" is on no floor: give it a room in floors")
		}
	}
	return found
}

func upward(g graph) (found []string) {
	for _, n := range g.own() {
		from, floor := room(n.path)
		for _, imported := range n.imports {
			if g[imported].module != module {
				continue
			}
			if to, below := room(imported); from != to && below >= floor {
				found = append(found, fmt.Sprintf("%s imports %s, which is not below it", short(n.path),
					short(imported)))
			}
		}
	}
	return found
}

func sandboxReaches(g graph) (found []string) {
	for _, n := range g.own() {
		if from, _ := room(n.path); from != "sandbox" {
			continue
		}
		for _, imported := range n.imports {
			if to, _ := room(imported); g[imported].module == module && !slices.Contains(sandboxMayImport, to) {
				found = append(found, fmt.Sprintf("%s imports %s", short(n.path), short(imported)))
			}
		}
	}
	return found
}

func ethereum(g graph) (found []string) {
	for _, n := range g.own() {
		if short(n.path) == wallet {
			continue
		}
		for _, imported := range n.imports {
			if isEthereum(g[imported]) {
				found = append(found, fmt.Sprintf("%s imports %s: only %s may", short(n.path), imported, wallet))
			}
		}
		if way := g.chain(n.path, isEthereum); inSDK(n) && way != nil {
			found = append(found, "the SDK reaches go-ethereum: "+strings.Join(way, " -> "))
		}
	}
	return found
}

func jsonV2(g graph) (found []string) {
	for _, n := range g.own() {
		for _, imported := range n.imports {
			if inSDK(n) && short(n.path) != jsonDoor && g[imported].module == jsonModule {
				found = append(found, fmt.Sprintf("%s imports %s: only %s may", short(n.path), imported, jsonDoor))
			}
		}
	}
	return found
}

func unlistedModules(g graph) (found []string) {
	for _, n := range g.own() {
		if !inSDK(n) {
			continue
		}
		allowed := sdkModules
		if short(n.path) == wallet {
			allowed = slices.Concat(sdkModules, walletModules)
		}
		for _, taken := range g.modules(n.path) {
			if !slices.Contains(allowed, taken) {
				way := g.chain(n.path, func(n node) bool { return n.module == taken })
				found = append(found, fmt.Sprintf("the SDK takes on %s: %s", taken, strings.Join(way, " -> ")))
			}
		}
	}
	return found
}

// unneededModules keeps the lists as short as the SDK allows. A made-up graph needs few of them, so that it is not
// among the import rules.
func unneededModules(g graph) (found []string) {
	needed := map[string]bool{}
	for _, n := range g.own() {
		if inSDK(n) {
			for _, taken := range g.modules(n.path) {
				needed[taken] = true
			}
		}
	}
	for _, listed := range slices.Concat(sdkModules, walletModules) {
		if !needed[listed] {
			found = append(found, listed+" is listed, and nothing in the SDK needs it")
		}
	}
	return found
}

func testOnly(g graph) (found []string) {
	for _, n := range g.own() {
		for _, imported := range n.imports {
			level := slices.Index(recordings, short(imported))
			if slices.Contains(testModules, g[imported].module) ||
				level >= 0 && slices.Index(recordings, short(n.path)) != level+1 {
				found = append(found, fmt.Sprintf("%s imports %s outside of its tests", short(n.path), short(imported)))
			}
		}
	}
	return found
}
