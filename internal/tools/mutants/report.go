package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// report holds the outcomes of a sample.
type report struct {
	Command string
	Results []result
	LeftOut []string
}

func (r report) count(of outcome) (n int) {
	for _, one := range r.Results {
		if one.Outcome == of {
			n++
		}
	}
	return n
}

// score returns the percentage of mutants that were noticed, of those that build.
func (r report) score() float64 {
	counted := len(r.Results) - r.count(noBuild)
	if counted == 0 {
		return 100
	}
	return 100 * float64(r.count(killed)) / float64(counted)
}

func (r report) summary() string {
	return fmt.Sprintf("%s: %.1f %%: %d of %d killed, %d survived, "+
		"%d of them reached by no test; %d more do not build\n", r.Command, r.score(),
		r.count(killed), len(r.Results)-r.count(noBuild), r.count(survived)+r.count(unseen), r.count(unseen),
		r.count(noBuild))
}

// write writes summary.txt and survivors.diff to a folder, and prints them.
func (r report) write(folder string, out io.Writer) error {
	var survivors strings.Builder
	sorted := slices.Clone(r.Results)
	slices.SortFunc(sorted, func(a, b result) int { return strings.Compare(a.ID, b.ID) })
	for _, one := range sorted {
		if one.Outcome == survived || one.Outcome == unseen {
			fmt.Fprintf(&survivors, "# %s\n# %s\n%s\n", one.ID, one.Outcome, one.diff())
		}
	}
	summary := r.summary()
	for _, test := range r.LeftOut {
		summary += "left out, for it fails without a mutant: " + test + "\n"
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "survivors.diff"), []byte(survivors.String()), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n%s", &survivors, summary)
	return os.WriteFile(filepath.Join(folder, "summary.txt"), []byte(summary), 0o644)
}

// readSurvivors reads the ids in a report's survivors.diff.
func readSurvivors(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), "# "); is {
			named[id] = true
		}
	}
	return named, nil
}

// diff shows the lines that a mutant changes.
func (m *mutant) diff() string {
	text := m.source.Text
	from := strings.LastIndexByte(text[:m.from], '\n') + 1
	to := len(text)
	if end := strings.IndexByte(text[m.to:], '\n'); end >= 0 {
		to = m.to + end
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s:%d\n", m.source.Name, 1+strings.Count(text[:m.from], "\n"))
	for line := range strings.Lines(text[from:to]) {
		out.WriteString("-" + strings.TrimSuffix(line, "\n") + "\n")
	}
	for line := range strings.Lines(text[from:m.from] + m.plain + text[m.to:to]) {
		if line = strings.TrimSuffix(line, "\n"); strings.TrimSpace(line) != "" {
			out.WriteString("+" + line + "\n")
		}
	}
	return out.String()
}
