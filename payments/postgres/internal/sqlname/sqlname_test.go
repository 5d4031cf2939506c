package sqlname_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments/postgres/internal/sqlname"
)

func TestNames(t *testing.T) {
	for name, quoted := range map[string]string{
		"payments": `"payments"`, `a "b"`: `"a ""b"""`, "{schema}": `"{schema}"`, "Größe": `"Größe"`,
		strings.Repeat("n", 63): `"` + strings.Repeat("n", 63) + `"`,
	} {
		schema, err := sqlname.Check(name)
		require.NoError(t, err)
		assert.Equal(t, name, schema.String())
		assert.Equal(t, "SELECT "+quoted+".a, "+quoted+".b", schema.In("SELECT {schema}.a, {schema}.b"))
	}
	schema, err := sqlname.Check(`{turns}'s "\`)
	require.NoError(t, err)
	assert.Equal(t, `SELECT nextval(E'"{turns}''s ""\\".turns') FROM "{turns}'s ""\".a`,
		schema.In("SELECT nextval({turns}) FROM {schema}.a", "turns"))
}

func TestOtherNamesAreRefused(t *testing.T) {
	for _, name := range []string{
		"", strings.Repeat("n", 64), strings.Repeat("ö", 32), "a\x00b", "\xff", "a\nDROP TABLE x; --", "a\rb",
		"a\u2028b",
		"a\u0085b", "a\u202eb", "a\tb", "$take$", "a$b",
	} {
		_, err := sqlname.Check(name)
		require.ErrorContains(t, err, "is not a name for a schema", "%q", name)
		assert.Less(t, len(err.Error()), 300)
	}
}
