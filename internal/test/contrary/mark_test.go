package contrary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
	"github.com/moneymovement/moneymovement-go/openapi"
)

// derive gives every mark with its classes.
func derive(t *testing.T) []*contrary.Mark {
	t.Helper()
	marks, err := contrary.Derive(describe(t))
	require.NoError(t, err)
	return marks
}

// eachChange tests what is chosen of the marks of some classes, the marks side by side.
func eachChange(t *testing.T, classes []contrary.Class, chosen func(*contrary.Mark) []contrary.Change, where string,
	test func(*testing.T, *wire.Description, contrary.Change),
) {
	t.Helper()
	d := describe(t)
	for _, mark := range derive(t) {
		if !slices.ContainsFunc(classes, mark.Is) {
			continue
		}
		t.Run(mark.Name(), func(t *testing.T) {
			t.Parallel()
			for _, change := range chosen(mark) {
				name := fmt.Sprintf("%s %s %s %s", change.Name(), where, change.Site.Operation.Name(),
					strings.Join(change.Site.Path, "."))
				t.Run(name, func(t *testing.T) { test(t, d, change) })
			}
		})
	}
}

// firstCases are the mark's changes that count, each the first of its kind.
func firstCases[K comparable](
	mark *contrary.Mark, counts func(contrary.Change) bool, kind func(contrary.Change) K,
) (chosen []contrary.Change) {
	taken := map[K]bool{}
	for _, change := range mark.Changes() {
		if counts(change) && !taken[kind(change)] {
			taken[kind(change)] = true
			chosen = append(chosen, change)
		}
	}
	return chosen
}

func caseOf(c contrary.Change) contrary.Case { return c.Case }

func TestEveryMarkHasAClass(t *testing.T) {
	d := describe(t)
	marks := derive(t)
	require.Len(t, marks, len(d.Assumptions))
	for _, mark := range marks {
		assert.NotEmpty(t, mark.Classes, mark.Name())
		if len(mark.Cases()) == 0 {
			assert.NotEmpty(t, mark.WhyNoCase(), "%s has no case, and no reason says why", mark.Name())
		}
	}
}

// A case that no test runs would prove nothing.
func TestEveryCaseIsRun(t *testing.T) {
	for _, mark := range derive(t) {
		run := map[contrary.Case]bool{}
		for _, chosen := range [][]contrary.Change{readings(mark), requests(mark), bounds(mark), refusals(mark),
			behaviours(mark)} {
			for _, change := range chosen {
				run[change.Case] = true
			}
		}
		for _, c := range mark.Cases() {
			if c.Class == contrary.ClassOperation { // TestMissingOperation runs all changes
				continue
			}
			assert.True(t, run[c], "%s: %s %s", mark.Name(), c.Class, c.Name())
		}
	}
}

// A new mark that fits no class fails, with its line; one that fits has its cases without anyone writing them.
func TestNewMarkHasCasesOrFails(t *testing.T) {
	marked := func(mark string) ([]*contrary.Mark, error) {
		files := fstest.MapFS{}
		for _, name := range []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml", "common.yaml",
			"errors.yaml", "coverage.yaml"} {
			source, err := openapi.Files.ReadFile(name)
			require.NoError(t, err)
			files[name] = &fstest.MapFile{Data: source}
		}
		files["public.yaml"] = &fstest.MapFile{Data: []byte(`
servers: [{url: '{base_url}'}]
paths:
  /utils/rates/{currency}:
    get:
      operationId: GetRate
      responses:
        '200':
          content:
            application/json:
              schema:
                type: object
                properties:
                  usdRate: {type: string, format: decimal, ` + mark + `}
`)}
		d, err := wire.Read(files)
		require.NoError(t, err)
		return contrary.Derive(d)
	}
	_, err := marked("x-assumed: {colour: a mark that nobody thought of}")
	require.Error(t, err)
	assert.ErrorContains(t, err,
		"openapi/public.yaml:14: public.yaml GetRate answer 200.content.application/json.schema.usdRate colour "+
			"fits no class")

	marks, err := marked("x-assumed: a mark like others")
	require.NoError(t, err)
	found := 0
	for _, mark := range marks {
		if mark.File == "public.yaml" {
			found++
			assert.Equal(t, []contrary.Class{contrary.ClassResponse}, mark.Classes)
			assert.Len(t, mark.Cases(), 8)
		}
	}
	assert.Equal(t, 1, found)
}
