// Package report keeps the results of a run, compares them with those of an earlier run, and writes them as a table and
// as a chart.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
)

// Results are the results of one run, for each release of Go.
type Results struct {
	Machine  Machine   `json:"machine"`
	Commit   string    `json:"commit"`
	Date     string    `json:"date"`
	Turns    int       `json:"turns"`
	Releases []Release `json:"releases"`
}

// Release is what was measured with one release of Go.
type Release struct {
	Go        string    `json:"go"` // such as go1.26.8
	Rows      []Row     `json:"rows,omitempty"`
	Footprint []Program `json:"footprint,omitempty"`
	Libraries []Library `json:"libraries,omitempty"`
	Host      []Figure  `json:"host,omitempty"`
	Load      []Figure  `json:"load,omitempty"`
}

// Row compares a library with a client written by hand, for one kind of work.
type Row struct {
	ID      string   `json:"id"`
	Group   string   `json:"group"`
	Title   string   `json:"title"`
	Callers int      `json:"callers"`
	Opened  [2]int64 `json:"opened"` // connections of the library and of the hand-written client
	measure.Result
}

// Program is a minimal program that reads one resource with a library.
type Program struct {
	Name     string `json:"name"`
	Binary   int64  `json:"binary"`   // bytes, stripped and static
	Packages int    `json:"packages"` // linked, with those of the standard library
	Modules  int    `json:"modules"`  // linked
	// Build is the seconds of a build without a cache, 0 if it was not measured.
	Build float64 `json:"build,omitempty"`
	// First is the milliseconds from the start of the process to the first decoded response.
	First  measure.Estimate `json:"first"`
	Memory int64            `json:"memory"` // greatest resident size in bytes
}

// Library is the share of a library in the binary of the SDK's program.
type Library struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Figure is a value that is measured by itself.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Read reads what Write wrote.
func Read(path string) (Results, error) {
	var r Results
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// Write stores the results.
func (r Results) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Of returns what was measured with a release of Go, whatever its patch is.
func (r Results) Of(version string) (Release, bool) {
	for _, release := range r.Releases {
		if minor(release.Go) == minor(version) {
			return release, true
		}
	}
	return Release{}, false
}

// row returns the row with an id.
func (r Release) row(id string) (Row, bool) {
	for _, row := range r.Rows {
		if row.ID == id {
			return row, true
		}
	}
	return Row{}, false
}

// minor returns "1.26" of "go1.26.8".
func minor(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "go"), ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}

// String returns a line for a terminal.
func (r Row) String() string {
	return fmt.Sprintf("%-22s wall %s CPU %s, %.1f of %.1f µs, allocations %.0f of %.0f, bytes %.0f of %.0f", r.ID,
		interval(r.Wall), interval(r.CPU), r.First.Wall/1e3, r.Other.Wall/1e3, r.First.Allocs, r.Other.Allocs,
		r.First.Bytes, r.Other.Bytes)
}
