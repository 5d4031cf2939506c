package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files are the sources of a small page.
func files() map[string]string {
	return map[string]string{
		catalogueFile:    one,
		provocationsFile: "# Slugs\n\n| Slug | Status | How |\n|---|---|---|\n| `a` | 400 | send an a |\n",
		rowsFile: `
intro: |
  All of them.

  - one
groups:
  - title: Local
    errors:
      - {type: errors.Late, do: 'come back, "soon"', sandbox: be late}
      - {type: errors.Later, do: wait, sandbox: be later, embeds: errors.Late}
  - {title: Values, values: [errors]}
`,
		"errors/a.go": `package errors

// Late is the error for what comes late, see [A].
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorslate
type Late struct{}

// Retryable returns false: see [Later].
func (*Late) Retryable() bool { return false }

// Later is the error for what comes later.
type Later struct{ Late }

var (
	// ErrB means b.
	ErrB = New("b")
	// ErrA means a_b.
	ErrA, plain = New("a"), 0
)
`,
		"errors/a_test.go":         "package errors_test\n",
		"a.go":                     "package moneymovement\n",
		"dapi/a.go":                "package dapi\n",
		"fleet/a.go":               "package fleet\n",
		"payments/a.go":            "package payments\n",
		"payments/postgres/a.go":   "package postgres\n",
		"payments/sqlite/a.go":     "package sqlite\n",
		"refapi/a.go":              "package refapi\n",
		"signing/a.go":             "package signing\n",
		"signing/wallet/wallet.go": "package wallet\n",
	}
}

func pageOf(t *testing.T, sources map[string]string) (string, error) {
	t.Helper()
	from, to := t.TempDir(), t.TempDir()
	for name, source := range sources {
		require.NoError(t, os.MkdirAll(filepath.Join(from, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte(source), 0o600))
	}
	for _, folder := range []string{"errors", "docs", "sandbox/internal/wire"} {
		require.NoError(t, os.MkdirAll(filepath.Join(to, folder), 0o755))
	}
	if err := run(from, to); err != nil {
		return "", err
	}
	written, err := os.ReadFile(filepath.Join(to, pageFile))
	require.NoError(t, err)
	return string(written), nil
}

// Each error has an entry with what its sources say: slugs from the catalogue and the host's page, other errors from
// the documentation of their types and the rows.
func TestThePageHasAnEntryForEachError(t *testing.T) {
	written, err := pageOf(t, files())
	require.NoError(t, err)
	for _, want := range []string{
		"\n# Errors\n\nAll of them.\n\n- one\n",
		"| [`a`](#a) | 400 | no | not moved |\n",
		"- **Local**: [`errors.Late`](#errorslate), [`errors.Later`](#errorslater).\n- **Values**: [all](#values).\n",
		"\n### a\n\nA.\n\n- **Go type**: `*errors.A`, code `errors.CodeA`.\n- **HTTP status**: 400.\n",
		"- **On the sandbox host**: Send an a.\n",
		"\n### errors.Late\n\nLate is the error for what comes late, see [A](#a).\n\n" +
			"- **Go type**: `*errors.Late`.\n- **Safe to repeat**: Retryable returns " +
			"false: see [Later](#errorslater).\n" +
			"- **What to do**: Come back, \"soon\".\n- **On the sandbox host**: Be late.\n",
		"\n### errors.Later\n\nLater is the error for what comes later.\n\n- **Go type**: `*errors.Later`.\n" +
			"- **Safe to repeat, and money**: As for [errors.Late](#errorslate).\n- **What to do**: Wait.\n",
		"\n## Values\n\n- `errors.ErrA` means a_b.\n- `errors.ErrB` means b.\n",
	} {
		assert.Contains(t, written, want)
	}
	assert.NotContains(t, written, "docs/errors.md#errorslate", "a page need not say where it is")
	assert.NotContains(t, written, "plain")
}

func TestIncompleteErrorPageIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ file, from, to, want string }{
		"a slug that nothing provokes": {provocationsFile, "| `a` |", "| `b` |", "no row says how to provoke a"},
		"a type that there is not":     {"errors/a.go", "Later", "Latest", "errors.Later is not a documented type"},
		"a type without a word": {"errors/a.go", "// Later is the error for what comes later.", "",
			"errors.Later is not"},
		"a row without advice": {rowsFile, "do: wait, ", "", `type "errors.Later": needs`},
		"a row without a way":  {rowsFile, "sandbox: be later, ", "", `type "errors.Later": needs`},
		"a type that is not listed": {rowsFile, "embeds: errors.Late", "embeds: errors.Lost",
			`type "errors.Later": embeds "errors.Lost", which is not listed`},
		"a row that is there twice": {rowsFile, "errors.Later", "errors.Late", "listed twice"},
		"a misspelled member":       {rowsFile, "embeds", "embed", "embed"},
		"a group without a title":   {rowsFile, "title: Values, ", "", "no title"},
		"Go that does not parse":    {"dapi/a.go", "package", "pack", "dapi/a.go"},
	} {
		t.Run(name, func(t *testing.T) {
			sources := files()
			changed := strings.ReplaceAll(sources[tc.file], tc.from, tc.to)
			require.NotEqual(t, sources[tc.file], changed)
			sources[tc.file] = changed
			_, err := pageOf(t, sources)
			assert.ErrorContains(t, err, tc.want)
		})
	}
	for name := range files() {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		sources := files()
		delete(sources, name)
		_, err := pageOf(t, sources)
		assert.Error(t, err, "without %s", name)
	}
}

func TestAnchorsAreGitHubs(t *testing.T) {
	for heading, want := range map[string]string{
		"quote_expired": "quote_expired", "dapi.PriceRefused": "dapipricerefused",
		"Errors of keys and signatures": "errors-of-keys-and-signatures",
	} {
		assert.Equal(t, want, anchor(heading))
	}
}

func TestProseIsWrapped(t *testing.T) {
	for line := range strings.Lines(wrapped("- "+strings.Repeat("wörd ", 200), "  ")) {
		assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 120)
	}
}
