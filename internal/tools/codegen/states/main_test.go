package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const described = `openapi: 3.0.3
info: {title: t, version: '1'}
paths: {}
components:
  schemas:
    PayoutStatus: {type: string, enum: [funding, completed], x-classes: {funding: [funded], completed: [funded, final]}}
    Asset: {type: string, enum: [USDC]}
`

// generated is what run writes for a description, or its error.
func generated(t *testing.T, description string) (string, error) {
	t.Helper()
	spec, out := filepath.Join(t.TempDir(), "spec.yaml"), filepath.Join(t.TempDir(), "states.gen.go")
	require.NoError(t, os.WriteFile(spec, []byte(description), 0o600))
	if err := run(spec, "dapi", out); err != nil {
		return "", err
	}
	source, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(source), nil
}

func TestEachClassIsAMethod(t *testing.T) {
	source, err := generated(t, described)
	require.NoError(t, err)
	for _, method := range []string{
		"func (s PayoutStatus) Final() bool {\n\tswitch s {\n\tcase \"completed\":\n",
		"func (s PayoutStatus) funded() bool {\n\tswitch s {\n\tcase \"funding\", \"completed\":\n",
		"func (s PayoutStatus) Known() bool {\n\tswitch s {\n\tcase \"funding\", \"completed\":\n",
	} {
		assert.Contains(t, source, method)
	}
	assert.NotContains(t, source, "Asset")
}

func TestNotesAreInTheComment(t *testing.T) {
	const marks = "completed: [funded, final]}"
	noted := strings.Replace(described, marks, marks+", x-class-notes: {final: 'It can `still` "+
		strings.Repeat("come back ", 12)+"later.'}", 1)
	source, err := generated(t, noted)
	require.NoError(t, err)
	assert.Contains(t, source, "does not\n// know.\n//\n// It can `still` come back")
	assert.Contains(t, source, "come back later.\nfunc (s PayoutStatus) Final() bool {")
	for line := range strings.Lines(source) {
		assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 120)
	}
	_, err = generated(t, strings.Replace(noted, "{final: 'It", "{finl: 'It", 1))
	assert.ErrorContains(t, err, "a note on finl")
}

// A value that is added says what it means, or nothing is generated.
func TestEveryValueOfAStatusIsClassified(t *testing.T) {
	for name, c := range map[string]struct{ from, to, problem string }{
		"a new value": {"enum: [funding, completed]", "enum: [funding, completed, cancelled]",
			"what cancelled means"},
		"a value that went":    {"enum: [funding, completed]", "enum: [completed]", "funding, which is not a value"},
		"a class nobody knows": {"completed: [funded, final]", "completed: [funded, finl]", "no class finl"},
		"a status without marks": {", x-classes: {funding: [funded], completed: [funded, final]}", "",
			"says by x-classes"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, described, c.from)
			_, err := generated(t, strings.Replace(described, c.from, c.to, 1))
			require.ErrorContains(t, err, "schema PayoutStatus: ")
			assert.ErrorContains(t, err, c.problem)
		})
	}
}
