package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
	"github.com/moneymovement/moneymovement-go/bench/internal/footprint"
	"github.com/moneymovement/moneymovement-go/bench/internal/host"
	"github.com/moneymovement/moneymovement-go/bench/internal/load"
	"github.com/moneymovement/moneymovement-go/bench/internal/peers"
	"github.com/moneymovement/moneymovement-go/bench/internal/report"
)

// release measures with the release of Go that built this program. It prints each row when it has it.
func release(ctx context.Context, o options, out io.Writer) (report.Release, error) {
	measured := report.Release{Go: runtime.Version()}
	if o.parts["rows"] {
		var err error
		if measured.Rows, err = rows(ctx, o, out); err != nil {
			return measured, err
		}
	}
	if o.parts["footprint"] {
		if err := footprints(ctx, o, out, &measured); err != nil {
			return measured, err
		}
	}
	if o.parts["host"] {
		plan := host.Plan{Entries: 100_000, Requests: 50_000, Starts: 20, Benchmarks: true}
		if o.quick {
			plan = host.Plan{Entries: 300, Requests: 60, Starts: 1}
		}
		var err error
		if measured.Host, err = host.Measure(ctx, plan); err != nil {
			return measured, err
		}
		printFigures(out, measured.Host)
	}
	if o.parts["load"] {
		calls := 1_000_000
		if o.quick {
			calls = 1000
		}
		var err error
		if measured.Load, err = load.Measure(ctx, calls); err != nil {
			return measured, err
		}
		printFigures(out, measured.Load)
	}
	return measured, nil
}

func printFigures(out io.Writer, figures []report.Figure) {
	for _, figure := range figures {
		fmt.Fprintf(out, "%s %s: %s\n", runtime.Version(), figure.Name, figure)
	}
}

// footprints measures the minimal programs. The quick ones are those that take little time to build.
func footprints(ctx context.Context, o options, out io.Writer, measured *report.Release) (err error) {
	plan := footprint.Plan{Programs: footprint.All(), Starts: 200, Cold: o.cold}
	if o.quick {
		plan.Programs, plan.Starts = plan.Programs[:2], 2
	}
	if measured.Footprint, err = footprint.Measure(ctx, plan); err != nil {
		return err
	}
	for _, p := range measured.Footprint {
		fmt.Fprintf(out, "%s %+v\n", measured.Go, p)
	}
	measured.Libraries, err = footprint.Libraries(ctx)
	return err
}

func rows(ctx context.Context, o options, out io.Writer) (rows []report.Row, err error) {
	for _, c := range append(cases.All(), peers.All()...) {
		if !o.rows.MatchString(c.ID) {
			continue
		}
		result, opened, err := c.Measure(ctx, o.plan)
		if err != nil {
			return rows, err
		}
		row := report.Row{ID: c.ID, Group: c.Group, Title: c.Title, Callers: c.Callers, Opened: opened, Result: result}
		fmt.Fprintln(out, runtime.Version(), row)
		rows = append(rows, row)
	}
	return rows, nil
}

// measureTo measures with this release, and writes the figures to a file, unless it is called "-".
func measureTo(ctx context.Context, o options, out io.Writer) error {
	if o.profile != "" {
		file, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	measured, err := release(ctx, o, out)
	if err != nil {
		return err
	}
	if o.measure == "-" {
		return nil
	}
	return report.Results{Releases: []report.Release{measured}}.Write(o.measure)
}

// compare measures with this release, and compares the rows with those of the committed run.
func compare(ctx context.Context, o options, out io.Writer) error {
	committed, err := report.Read(filepath.Join(o.out, "results.json"))
	if err != nil {
		return fmt.Errorf("nothing to compare with (-write makes it): %w", err)
	}
	before, known := committed.Of(runtime.Version())
	if !known {
		return fmt.Errorf("results.json has no figures of %s (make bench-write makes it)", runtime.Version())
	}
	o.parts = map[string]bool{"rows": true}
	now, err := release(ctx, o, out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	if worse := report.Compare(out, now, before, o.rows.MatchString); len(worse) > 0 {
		return fmt.Errorf("worse than the committed run: %s", strings.Join(worse, ", "))
	}
	return nil
}
