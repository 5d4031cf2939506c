// Package footprint measures what a minimal program costs with each library: the size of its binary, what it links, how
// long it takes to build and to read a first resource, and the memory that it needs.
package footprint

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
	"github.com/moneymovement/moneymovement-go/bench/internal/peers"
	"github.com/moneymovement/moneymovement-go/bench/internal/report"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
)

// Plan says what to measure.
type Plan struct {
	// Programs are folders of programs/. The first one is what the others are compared with.
	Programs []string
	// Starts is how often each program is started.
	Starts int
	// Cold builds each program once more without a cache, which takes a minute or so.
	Cold bool
}

// All are all programs, raw first.
func All() []string { return append([]string{"raw", "sdk"}, peers.IDs()...) }

// Measure builds the programs of this module, which is the current folder, and starts them by turns.
func Measure(ctx context.Context, plan Plan) ([]report.Program, error) {
	folder, err := os.MkdirTemp("", "footprint")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	programs := make([]report.Program, len(plan.Programs))
	for i, name := range plan.Programs {
		if programs[i], err = built(ctx, name, filepath.Join(folder, name), plan.Cold); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return programs, start(ctx, folder, programs, plan.Starts)
}

// built builds a program, and measures what does not need it to run.
func built(ctx context.Context, name, binary string, cold bool) (p report.Program, err error) {
	p.Name = name
	if err = Build(ctx, name, binary); err != nil {
		return p, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return p, err
	}
	p.Binary = info.Size()
	packages, err := Go(ctx, "list", "-deps", "./programs/"+name)
	if err != nil {
		return p, err
	}
	linked, err := Go(ctx, "version", "-m", binary)
	if err != nil {
		return p, err
	}
	p.Packages, p.Modules = countLines(packages, ""), countLines(linked, "\tdep\t")
	if cold {
		p.Build, err = coldBuild(ctx, name)
	}
	return p, err
}

// coldBuild returns the seconds of a build with an empty cache.
func coldBuild(ctx context.Context, name string) (float64, error) {
	folder, err := os.MkdirTemp("", "gocache")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	started := time.Now()
	_, err = GoWith(ctx, "GOCACHE="+folder, "build", "-o", filepath.Join(folder, "program"),
		"./programs/"+name)
	return time.Since(started).Seconds(), err
}

// start starts the programs by turns, each against a server with the response that it reads.
func start(ctx context.Context, folder string, programs []report.Program, starts int) error {
	firsts, peaks := make([][]float64, len(programs)), make([][]float64, len(programs))
	for i := range starts * len(programs) {
		at := i % len(programs)
		used, err := startOnce(ctx, filepath.Join(folder, programs[at].Name), responseFor(programs[at].Name))
		if err != nil {
			return fmt.Errorf("%s: %w", programs[at].Name, err)
		}
		firsts[at] = append(firsts[at], float64(used.First)/float64(time.Millisecond))
		peaks[at] = append(peaks[at], float64(used.Memory))
	}
	for i := range programs {
		programs[i].First = measure.EstimateOf(firsts[i])
		programs[i].Memory = int64(measure.EstimateOf(peaks[i]).Median)
	}
	return nil
}

func responseFor(name string) string {
	if one, found := peers.One(name); found {
		return one
	}
	return service.Payout(service.Plain)
}

// startOnce starts a program against a server.
func startOnce(ctx context.Context, binary, response string) (Usage, error) {
	server := httptest.NewServer(service.Always(http.StatusOK, response))
	defer server.Close()
	return Run(ctx, binary, server.URL)
}
