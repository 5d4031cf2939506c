package host

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/footprint"
	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
	"github.com/moneymovement/moneymovement-go/bench/internal/report"
)

// starts measures a process from its start to the first response of a host in it.
func starts(ctx context.Context, plan Plan) ([]report.Figure, error) {
	folder, err := os.MkdirTemp("", "host")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "host")
	if err := footprint.Build(ctx, "host", binary); err != nil {
		return nil, err
	}
	var wall, cpu []float64
	for range plan.Starts {
		run, err := footprint.Run(ctx, binary)
		if err != nil {
			return nil, err
		}
		wall = append(wall, float64(run.First)/float64(time.Millisecond))
		cpu = append(cpu, float64(run.CPU)/float64(time.Millisecond))
	}
	return []report.Figure{
		{Name: "start to first response, wall", Value: measure.EstimateOf(wall).Median, Unit: "ms"},
		{Name: "start to first response, CPU", Value: measure.EstimateOf(cpu).Median, Unit: "ms"},
	}, nil
}

// metric is a value that a benchmark reports, such as "15000 requests/s".
var metric = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s.*?([\d.]+) (requests/s|MiB/100000)`)

// benchmarks runs those of the host's own package: a client's whole day, and the memory of finished payouts.
func benchmarks(ctx context.Context, plan Plan) ([]report.Figure, error) {
	if !plan.Benchmarks {
		return nil, nil
	}
	workspace, err := filepath.Abs("../go.work")
	if err != nil {
		return nil, err
	}
	var figures []report.Figure
	for _, run := range []struct{ name, long string }{{"MixedRequests", "3s"}, {"MemoryOfPayouts", "10000x"}} {
		printed, err := footprint.GoWith(ctx, "GOWORK="+workspace, "-C", "../sandbox", "test", "-run", "^$",
			"-bench", run.name, "-benchtime", run.long, ".")
		if err != nil {
			return figures, err
		}
		figures = append(figures, metricsIn(printed)...)
	}
	return figures, nil
}

func metricsIn(printed string) (figures []report.Figure) {
	names := map[string]string{
		"MixedRequests":             "a client's day (make bench-host)",
		"MemoryOfPayouts/kept":      "memory of a payout that is kept",
		"MemoryOfPayouts/forgotten": "memory of a payout that is forgotten",
	}
	for _, found := range metric.FindAllStringSubmatch(printed, -1) {
		value, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			continue
		}
		unit := found[3]
		if unit == "MiB/100000" {
			value, unit = value*(1<<20)/100_000/1e3, "kB"
		}
		figures = append(figures, report.Figure{Name: names[found[1]], Value: value, Unit: unit})
	}
	return figures
}
