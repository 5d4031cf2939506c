package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sound is a made-up module that keeps every rule; each row of TestBrokenImportsAreFound breaks one.
var sound = []string{
	"internal/errorbase:",
	"internal/codec: github.com/go-json-experiment/json",
	"errors: errors time internal/errorbase github.com/shopspring/decimal",
	"signing: crypto errors signing/internal/keyfile github.com/youmark/pkcs8",
	"signing/internal/keyfile: os",
	"signing/wallet: signing internal/codec github.com/ethereum/go-ethereum/crypto",
	".: errors",
	"internal/transport: . net/http errors github.com/hashicorp/go-retryablehttp",
	"dapi: . errors signing internal/transport",
	"appapi: . errors",
	"recorded: internal/codec",
	"openapi: embed",
	"sandbox: sandbox/internal/gate",
	"sandbox/internal/gate: openapi signing signing/wallet github.com/getkin/kin-openapi/openapi3filter",
	"cmd/moneymove: sandbox",
	"internal/test/contract: dapi appapi sandbox",
}

func TestSoundImportsPass(t *testing.T) {
	for name, rule := range importRules {
		t.Run(name, func(t *testing.T) { assert.Empty(t, rule(made(sound...))) })
	}
}

func TestBrokenImportsAreFound(t *testing.T) {
	tests := map[string]struct {
		rule string
		line string // replaces the sound module's line of the same package, or is added
		want []string
	}{
		"a package that nobody placed": {
			"every package has a room", "internal/misplaced: time",
			[]string{"internal/misplaced is on no floor: give it a room in floors"},
		},
		"a room is a folder, not a prefix of its name": {
			"every package has a room", "dapiextra: time",
			[]string{"dapiextra is on no floor: give it a room in floors"},
		},
		"the ground floor looks up": {
			"imports go down only", "errors: internal/transport",
			[]string{"errors imports internal/transport, which is not below it"},
		},
		"the errors look up": {
			"imports go down only", "errors: signing",
			[]string{"errors imports signing, which is not below it"},
		},
		"the root knows the request path": {
			"imports go down only", ".: internal/transport",
			[]string{". imports internal/transport, which is not below it"},
		},
		"a surface imports another": {
			"imports go down only", "dapi: appapi",
			[]string{"dapi imports appapi, which is not below it"},
		},
		"the SDK imports the sandbox": {
			"imports go down only", "dapi: sandbox",
			[]string{"dapi imports sandbox, which is not below it"},
		},
		"the SDK carries the OpenAPI documents": {
			"imports go down only", "dapi: openapi",
			[]string{"dapi imports openapi, which is not below it"},
		},
		"a program imports another room's program": {
			"imports go down only", "cmd/moneymove: internal/test/contract",
			[]string{"cmd/moneymove imports internal/test/contract, which is not below it"},
		},
		"the sandbox shares the SDK's models": {
			"the sandbox is independent", "sandbox/internal/gate: dapi",
			[]string{"sandbox/internal/gate imports dapi"},
		},
		"a program imports go-ethereum itself": {
			"one importer of go-ethereum", "cmd/moneymove: github.com/ethereum/go-ethereum/crypto",
			[]string{"cmd/moneymove imports github.com/ethereum/go-ethereum/crypto: only signing/wallet may"},
		},
		"a surface reaches go-ethereum by a detour": {
			"one importer of go-ethereum", "dapi: signing/wallet",
			[]string{"the SDK reaches go-ethereum: dapi -> signing/wallet -> github.com/ethereum/go-ethereum/crypto"},
		},
		"a surface imports JSON v2 itself": {
			"one importer of JSON v2", "dapi: github.com/go-json-experiment/json/jsontext",
			[]string{"dapi imports github.com/go-json-experiment/json/jsontext: only internal/codec may"},
		},
		"the wallet imports JSON v2 itself": {
			"one importer of JSON v2", "signing/wallet: github.com/go-json-experiment/json",
			[]string{"signing/wallet imports github.com/go-json-experiment/json: only internal/codec may"},
		},
		"YAML in the SDK": {
			"the SDK's modules are the listed", "errors: go.yaml.in/yaml/v3",
			[]string{
				"the SDK takes on go.yaml.in/yaml/v3: . -> errors -> go.yaml.in/yaml/v3",
				"the SDK takes on go.yaml.in/yaml/v3: appapi -> errors -> go.yaml.in/yaml/v3",
				"the SDK takes on go.yaml.in/yaml/v3: dapi -> errors -> go.yaml.in/yaml/v3",
				"the SDK takes on go.yaml.in/yaml/v3: errors -> go.yaml.in/yaml/v3",
				"the SDK takes on go.yaml.in/yaml/v3: internal/transport -> errors -> go.yaml.in/yaml/v3",
				"the SDK takes on go.yaml.in/yaml/v3: signing -> errors -> go.yaml.in/yaml/v3",
				"the SDK takes on go.yaml.in/yaml/v3: signing/wallet -> signing -> errors -> go.yaml.in/yaml/v3",
			},
		},
		"an OpenAPI validator in the SDK": {
			"the SDK's modules are the listed", "appapi: github.com/getkin/kin-openapi/openapi3",
			[]string{"the SDK takes on github.com/getkin/kin-openapi: appapi -> " +
				"github.com/getkin/kin-openapi/openapi3"},
		},
		"assertions in the host": {
			"test modules stay in the test files", "sandbox: github.com/stretchr/testify/assert",
			[]string{"sandbox imports github.com/stretchr/testify/assert outside of its tests"},
		},
		"an example's answers in the SDK": {
			"test modules stay in the test files", "dapi: recorded",
			[]string{"dapi imports recorded outside of its tests"},
		},
		"a fake's answers in a program": {
			"test modules stay in the test files", "cmd/moneymove: recorded",
			[]string{"cmd/moneymove imports recorded outside of its tests"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rule, known := importRules[test.rule]
			require.True(t, known, test.rule)
			// A later line replaces an earlier one of the same package.
			assert.ElementsMatch(t, test.want, rule(made(append(sound[:len(sound):len(sound)], test.line)...)))
		})
	}
}

func TestUnneededModulesAreFound(t *testing.T) {
	found := unneededModules(made(sound...))
	assert.Contains(t, found, "github.com/google/uuid is listed, and nothing in the SDK needs it")
	assert.NotContains(t, found, "github.com/shopspring/decimal is listed, and nothing in the SDK needs it")
}
