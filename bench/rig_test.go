package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
	"github.com/moneymovement/moneymovement-go/bench/internal/peers"
	"github.com/moneymovement/moneymovement-go/bench/internal/report"
)

// TestTheRigRuns measures next to nothing of everything, publishes it, and compares a second run with it. It says
// nothing about speed.
func TestTheRigRuns(t *testing.T) {
	folder := t.TempDir()
	figures := filepath.Join(folder, "figures.json")
	require.NoError(t, run(t.Context(), []string{"-quick", "-measure", figures, "-parts", "rows,load"}, io.Discard))
	results, err := report.Read(figures)
	require.NoError(t, err)
	require.Len(t, results.Releases, 1)
	measured := results.Releases[0]

	var want, got []string
	for _, c := range append(cases.All(), peers.All()...) {
		want = append(want, c.ID)
	}
	for _, row := range measured.Rows {
		got = append(got, row.ID)
		assert.Positive(t, row.Calls, row.ID)
		assert.Positive(t, row.Wall.Low, row.ID)
		assert.GreaterOrEqual(t, row.Wall.High, row.Wall.Median, row.ID)
		assert.Positive(t, row.First.Allocs, row.ID)
	}
	assert.Equal(t, want, got)
	assert.Len(t, measured.Load, 8)

	o := options{out: folder, readme: filepath.Join(folder, "README.md")}
	page := "<!-- bench-write: begin -->\n<!-- bench-write: end -->\n"
	require.NoError(t, os.WriteFile(o.readme, []byte(page), 0o600))
	require.NoError(t, publish(o, results))
	for _, name := range []string{"results.json", "results.svg", "RESULTS.md", "README.md"} {
		assert.FileExists(t, filepath.Join(folder, name))
	}

	var printed strings.Builder
	_ = run(t.Context(), []string{"-quick", "-out", folder, "-rows", "^memory/get$"}, &printed) // it may be slower
	assert.Regexp(t, `(?m)^memory/get .* of \d+`, printed.String())
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-write", "-releases", "go1.26.8 go1.27.4", "-turns=3", "-rows", "^tcp/"})
	require.NoError(t, err)
	assert.Equal(t, []string{"go1.26.8", "go1.27.4"}, o.releases)
	assert.Equal(t, 3, o.plan.Turns)
	assert.ElementsMatch(t, []string{"-turns=3", "-rows=^tcp/"}, o.passed)
	for _, wrong := range [][]string{{"-rows", "("}, {"tcp"}, {"-nothing"}} {
		_, err := parse(wrong)
		assert.Error(t, err, wrong)
	}
}

func TestNothingToCompareWith(t *testing.T) {
	err := run(t.Context(), []string{"-out", t.TempDir()}, io.Discard)
	assert.ErrorContains(t, err, "-write makes it")
}
