package report

import (
	"fmt"
	"strings"
)

// The lines of the README between which the results stand.
const (
	readmeBegin = "<!-- bench-write: begin -->\n"
	readmeEnd   = "<!-- bench-write: end -->\n"
)

// readmeRows are the rows of the README.
var readmeRows = []string{
	"memory/get", "memory/write", "memory/page", "memory/iterate", "memory/error-404", "memory/error-409", "memory/pay",
	"tcp/get", "tcp/write", "tcp/page", "tcp/error-404",
}

// InReadme returns the README with these results between its two marks.
func (r Results) InReadme(readme string) (string, error) {
	before, rest, begins := strings.Cut(readme, readmeBegin)
	_, after, ends := strings.Cut(rest, readmeEnd)
	if !begins || !ends {
		return "", fmt.Errorf("the README has no lines %q and %q", readmeBegin, readmeEnd)
	}
	return before + readmeBegin + r.summary() + readmeEnd + after, nil
}

// summary is the chart and the rows that matter most.
func (r Results) summary() string {
	var text strings.Builder
	text.WriteString("![Time of a call, as a ratio to a client written by hand](bench/results.svg)\n\n")
	columns := []string{"Work: SDK / by hand"}
	for _, release := range r.Releases {
		columns = append(columns, "wall, Go "+minor(release.Go), "CPU, Go "+minor(release.Go))
	}
	tableHead(&text, columns...)
	for _, id := range readmeRows {
		row := r.first(id)
		if row.ID == "" {
			continue
		}
		cells := []string{row.Title + ", " + strings.ToLower(row.Group[:1]) + row.Group[1:]}
		for _, release := range r.Releases {
			in, _ := release.row(id)
			cells = append(cells, fmt.Sprintf("%.2f", in.Wall.Median), fmt.Sprintf("%.2f", in.CPU.Median))
		}
		tableRow(&text, cells...)
	}
	fmt.Fprintf(&text, "\n%s, %d cores, commit %s, %s.\n", r.Machine.CPU, r.Machine.Cores, r.Commit, r.Date)
	return text.String()
}
