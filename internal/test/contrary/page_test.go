package contrary_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

var write = flag.Bool("write", false, "write openapi/README.md")

// With -write it writes the page. Without, it compares.
func TestPageIsUpToDate(t *testing.T) {
	file := filepath.Join("..", "..", "..", "openapi", "README.md")
	page, err := contrary.Page(describe(t))
	require.NoError(t, err)
	if *write {
		require.NoError(t, os.WriteFile(file, page, 0o644))
		return
	}
	committed, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(page), string(committed), `run "go generate ./internal/test/contrary"`)
}

// There are few exceptions, and each has its reason. One that no mark falls under any more is taken out.
func TestExceptionsAreFew(t *testing.T) {
	marks, excepted := derive(t), 0
	for _, e := range contrary.Exceptions {
		assert.NotEmpty(t, e.Reason)
		excepted += len(e.Where)
		for _, name := range e.Where {
			i := slices.IndexFunc(marks, func(m *contrary.Mark) bool { return m.Name() == name })
			require.GreaterOrEqual(t, i, 0, "%s is no mark", name)
			assert.True(t, marks[i].Is(contrary.ClassResponse), name)
			assert.True(t,
				slices.ContainsFunc(marks[i].Cases(), func(c contrary.Case) bool {
					return slices.Contains(e.Kinds, c.Kind)
				}), name)
		}
	}
	assert.LessOrEqual(t, excepted, 12)
}
