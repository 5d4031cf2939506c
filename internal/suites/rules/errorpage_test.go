package rules_test

import (
	"go/types"
	"os"
	"slices"
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
	e := &exports{moduleOf: map[string]string{}, versions: map[string]string{}}
	found := errorsOf(e.imported(t, append(slices.Clone(shownPackages), "payments/postgres", "payments/sqlite",
		"signing/wallet", "sandbox")))
	require.Greater(t, len(found), 60, "next to nothing was looked at")
	for _, want := range []string{"errors.QuoteExpired", "errors.Unrecognized", "dapi.PriceRefused",
		"wallet.TypedDataRefused", "signing.ErrNoKey"} {
		require.Contains(t, found, want, "types that have Error by embedding, and values, are found")
	}
	assert.Empty(t, missing(string(source), found),
		"add the type to docs/errors.yaml and run go generate ./errors")
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

// errorsOf returns the exported names of packages that are errors: types, and variables such as ErrNoKey. The standard
// package's own, which package errors has as well, is not among them.
func errorsOf(packages []*types.Package) (names []string) {
	anError, _ := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	for _, pkg := range packages {
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			_, isFunc := object.(*types.Func)
			if !object.Exported() || isFunc || types.IsInterface(object.Type()) && !isValue(object) {
				continue
			}
			full := pkg.Name() + "." + name
			if full != "errors.ErrUnsupported" && (types.Implements(object.Type(), anError) ||
				types.Implements(types.NewPointer(object.Type()), anError)) {
				names = append(names, full)
			}
		}
	}
	return names
}

func isValue(object types.Object) bool {
	_, isVar := object.(*types.Var)
	return isVar
}
