package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/report"
)

// write measures on each release of Go, and writes the results.
func write(ctx context.Context, o options, out io.Writer) error {
	commit, err := commitOf(ctx)
	if err != nil {
		return err
	}
	results := report.Results{
		Machine: report.ThisMachine(), Commit: commit, Date: time.Now().UTC().Format(time.DateOnly),
		Turns: o.plan.Turns,
	}
	for _, version := range o.releases {
		measured, err := elsewhere(ctx, o, version, out)
		if err != nil {
			return fmt.Errorf("%s: %w", version, err)
		}
		results.Releases = append(results.Releases, measured.Releases...)
	}
	return publish(o, results)
}

// publish writes the results as JSON, as a page, as a chart, and into the README of the repository.
func publish(o options, results report.Results) error {
	if err := results.Write(filepath.Join(o.out, "results.json")); err != nil {
		return err
	}
	readme, err := os.ReadFile(o.readme)
	if err != nil {
		return err
	}
	refreshed, err := results.InReadme(string(readme))
	if err != nil {
		return err
	}
	for path, content := range map[string]string{
		filepath.Join(o.out, "RESULTS.md"):  results.Markdown(),
		filepath.Join(o.out, "results.svg"): results.SVG(),
		o.readme:                            refreshed,
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere builds this program with another release of Go, and lets it measure.
func elsewhere(ctx context.Context, o options, version string, out io.Writer) (report.Results, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return report.Results{}, err
	}
	defer os.RemoveAll(folder)
	program, figures := filepath.Join(folder, "bench"), filepath.Join(folder, "figures.json")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	for _, command := range [][]string{
		{"go", "build", "-o", program, "."},
		append([]string{program, "-measure", figures}, o.passed...),
	} {
		run := exec.CommandContext(ctx, command[0], command[1:]...)
		run.Env = append(os.Environ(), "GOTOOLCHAIN="+version, "GOWORK=off")
		run.Stdout, run.Stderr = out, os.Stderr
		if err := run.Run(); err != nil {
			return report.Results{}, err
		}
	}
	return report.Read(figures)
}

// commitOf returns the commit of the tree, with a mark if the tree differs from it.
func commitOf(ctx context.Context) (string, error) {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty").
		Output()
	if err != nil {
		return "", fmt.Errorf("the commit is not known: %w", err)
	}
	return strings.TrimSpace(string(commit)), nil
}
