package report

import (
	"fmt"
	"strings"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
)

// Markdown returns the page with all tables.
func (r Results) Markdown() string {
	var page strings.Builder
	page.WriteString("# How fast the SDK is\n\n" +
		"`make bench-write` writes this page. [README.md](README.md) says what is measured, and how.\n\n" +
		r.provenance() + "\n\n![Ratios of the SDK and of other SDKs to clients written by hand](results.svg)\n")
	for _, section := range []func(*strings.Builder){r.rows, r.footprint, r.libraries, r.figures} {
		section(&page)
	}
	return page.String()
}

// provenance says where the figures come from.
func (r Results) provenance() string {
	var releases []string
	for _, release := range r.Releases {
		releases = append(releases, release.Go)
	}
	return fmt.Sprintf("%s, %d cores, %s; %s; commit %s, %s; %d turns.", r.Machine.CPU, r.Machine.Cores, r.Machine.OS,
		strings.Join(releases, " and "), r.Commit, r.Date, r.Turns)
}

// rows writes a table for each group.
func (r Results) rows(page *strings.Builder) {
	ids := r.ids()
	if len(ids) == 0 {
		return
	}
	page.WriteString("\n## Ratios to a client written by hand\n\nBelow 1, the library needs less. In parentheses: " +
		"the interval. The goal is of wall time, on Go 1.26 and on Go 1.27.\nMicroseconds, allocations, bytes and " +
		"connections are those of the first release.\n")
	group := ""
	for _, id := range ids {
		row := r.first(id)
		if row.Group != group {
			group = row.Group
			columns := []string{group}
			for _, release := range r.Releases {
				columns = append(columns, "wall, "+minor(release.Go), "CPU, "+minor(release.Go))
			}
			page.WriteByte('\n')
			tableHead(page, append(columns, "goal", "µs", "allocations, by hand", "bytes, by hand",
				"connections, by hand")...)
		}
		cells := []string{escaped(row.Title)}
		for _, release := range r.Releases {
			in, _ := release.row(id)
			cells = append(cells, short(in.Wall), short(in.CPU))
		}
		tableRow(page, append(cells, goals[id], fmt.Sprintf("%.1f", row.First.Wall/1e3),
			fmt.Sprintf("%.0f, %.0f", row.First.Allocs, row.Other.Allocs),
			fmt.Sprintf("%.0f, %.0f", row.First.Bytes, row.Other.Bytes),
			fmt.Sprintf("%d, %d", row.Opened[0], row.Opened[1]))...)
	}
}

// ids are those of all rows, in the order in which they were measured.
func (r Results) ids() (ids []string) {
	if len(r.Releases) == 0 {
		return nil
	}
	for _, row := range r.Releases[0].Rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func (r Results) first(id string) Row {
	row, _ := r.Releases[0].row(id)
	return row
}

func (r Results) footprint(page *strings.Builder) {
	for _, release := range r.Releases {
		if len(release.Footprint) == 0 {
			continue
		}
		fmt.Fprintf(page, "\n## A minimal program, %s\n\nIt reads one resource. The binary is stripped and static. "+
			"The first response is timed from the start of the process.\n\n", release.Go)
		tableHead(page, "Library", "binary", "over raw", "packages", "modules", "build without a cache",
			"first response",
			"over raw", "peak memory")
		raw := release.Footprint[0]
		for _, p := range release.Footprint {
			build := ""
			if p.Build > 0 {
				build = fmt.Sprintf("%.0f s", p.Build)
			}
			tableRow(page, p.Name, fmt.Sprintf("%.2f MB", float64(p.Binary)/1e6),
				fmt.Sprintf("%+.0f %%", 100*(float64(p.Binary)/float64(raw.Binary)-1)),
				fmt.Sprint(p.Packages), fmt.Sprint(p.Modules), build,
				fmt.Sprintf("%.2f ms (%.2f to %.2f)", p.First.Median, p.First.Low, p.First.High),
				fmt.Sprintf("%+.2f ms", p.First.Median-raw.First.Median), fmt.Sprintf("%.1f MB", float64(p.Memory)/1e6))
		}
	}
}

func (r Results) libraries(page *strings.Builder) {
	for _, release := range r.Releases {
		if len(release.Libraries) == 0 {
			continue
		}
		fmt.Fprintf(page,
			"\n## What the SDK's minimal program links, %s\n\nThe sizes of the symbols of each module, by "+
				"`go tool nm`: code and data, without tables of the linker. For "+
				"the standard\nlibrary, what the raw program does not have.\n\n", release.Go)
		tableHead(page, "Module", "kB")
		for _, library := range release.Libraries {
			tableRow(page, library.Name, fmt.Sprintf("%.1f", float64(library.Bytes)/1e3))
		}
	}
}

// figures writes the values that are measured by themselves, with a column for each release.
func (r Results) figures(page *strings.Builder) {
	for _, table := range []struct {
		title string
		of    func(Release) []Figure
	}{
		{"The sandbox host", func(release Release) []Figure { return release.Host }},
		{"Long runs", func(release Release) []Figure { return release.Load }},
	} {
		columns := []string{""}
		values := map[string][]string{} // a cell for each release
		var names []string
		for i, release := range r.Releases {
			columns = append(columns, release.Go)
			for _, figure := range table.of(release) {
				if values[figure.Name] == nil {
					names = append(names, figure.Name)
					values[figure.Name] = make([]string, len(r.Releases))
				}
				values[figure.Name][i] = figure.String()
			}
		}
		if len(names) == 0 {
			continue
		}
		page.WriteString("\n## " + table.title + "\n\n")
		tableHead(page, columns...)
		for _, name := range names {
			tableRow(page, append([]string{name}, values[name]...)...)
		}
	}
}

// String returns the value with its unit.
func (f Figure) String() string {
	if f.Value >= 100 {
		return fmt.Sprintf("%.0f %s", f.Value, f.Unit)
	}
	return fmt.Sprintf("%.2f %s", f.Value, f.Unit)
}

// short prints an estimate, "-" for none.
func short(e measure.Estimate) string {
	if e == (measure.Estimate{}) {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", e.Median, e.Low, e.High)
}

func tableHead(page *strings.Builder, columns ...string) {
	tableRow(page, columns...)
	page.WriteString("|" + strings.Repeat("---|", len(columns)) + "\n")
}

func tableRow(page *strings.Builder, cells ...string) {
	page.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// escaped writes a backslash in Markdown.
func escaped(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }
