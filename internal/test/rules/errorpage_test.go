package rules_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// errorPage explains every error of the SDK.
const errorPage = "../../../docs/errors.md"

// Every exported error type and error value of the SDK has an entry on the page, where its slug or its Go name stands.
func TestEveryErrorStandsOnThePage(t *testing.T) {
	source, err := os.ReadFile(errorPage)
	require.NoError(t, err)
	var found []string
	for name, lines := range apiOf(t) {
		if name != "sandbox.bolt" { // a file of the host, not a call
			found = append(found, errorsOf(lines)...)
		}
	}
	require.Greater(t, len(found), 90, "next to nothing was looked at")
	for _, want := range []string{"errors.QuoteExpired", "errors.Unrecognized", "dapi.PriceRefused",
		"wallet.TypedDataRefused", "signing.ErrNoKey"} {
		require.Contains(t, found, want, "types that have Error by embedding, and values, are found")
	}
	assert.Empty(t, missing(string(source), found),
		"add the type to internal/tools/codegen/errorcatalogue/page.yaml and run go generate ./errors")
}

func TestAnErrorThatThePageLacksIsFound(t *testing.T) {
	const page = "### dapi.A\n\n- **Go type**: `*dapi.A`.\n- **Go type**: `*errors.B`, code `errors.CodeB`.\n" +
		"- `signing.ErrC` means c.\n"
	assert.Equal(t, []string{"dapi.D", "errors.A", "signing.Err"},
		missing(page, []string{"dapi.A", "dapi.D", "errors.A", "errors.B", "signing.Err", "signing.ErrC"}))
}

// missing returns the names without an entry.
func missing(page string, names []string) (without []string) {
	for _, name := range names {
		entry := strings.Contains(page, "- **Go type**: `*"+name+"`") || strings.Contains(page, "- `"+name+"` ")
		if !entry {
			without = append(without, name)
		}
	}
	return without
}

var (
	errorMethod = regexp.MustCompile(`^method \(\*?(\w+)\) Error\(\) string$`)
	errorValue  = regexp.MustCompile(`^var (\w+) (\S+)$`)
)

// errorsOf returns the names that the lines of a package have for errors: types, and variables such as ErrNoKey. An
// interface is not an error itself.
func errorsOf(lines []string) (names []string) {
	interfaces, kinds := map[string]bool{}, map[string]bool{"error": true}
	of := packageOf(lines) + "."
	for _, line := range lines {
		if name, is := strings.CutSuffix(strings.TrimPrefix(line, "type "), " interface"); is {
			interfaces[name] = true
		}
		if method := errorMethod.FindStringSubmatch(line); method != nil {
			kinds[method[1]], kinds["*"+method[1]] = true, true
			if !interfaces[method[1]] {
				names = append(names, of+method[1])
			}
		}
	}
	for _, line := range lines {
		value := errorValue.FindStringSubmatch(line)
		if value != nil && kinds[value[2]] && value[1] != "ErrUnsupported" { // the standard package's own
			names = append(names, of+value[1])
		}
	}
	return names
}

func TestErrorsAreFoundInTheListedAPI(t *testing.T) {
	assert.Equal(t, []string{"dapi.Refused", "dapi.Plain", "dapi.ErrNone", "dapi.Default"}, errorsOf([]string{
		"package dapi // import \"example.com/dapi\"", "", "type Refused struct", "method (*Refused) Error() string",
		"type Plain string", "method (Plain) Error() string", "type Failure interface",
		"method (Failure) Error() string", "method (*Log) Error(text string)", "var ErrNone error",
		"var ErrUnsupported error", "var Default *Refused", "var Files embed.FS", "func Clone(err error) error",
	}))
}
