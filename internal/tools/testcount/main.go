// Testcount reads the output of `go test -json`, prints it like `go test`, and counts the tests. It fails if a test of
// the tree did not run. That happens if a module is forgotten: `go test ./...` runs the tests of one module.
//
//	go test -json ./... | testcount -root . -race
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

func main() {
	root := flag.String("root", ".", "the folder of the repository")
	race := flag.Bool("race", false, "the tests run with the race detector")
	flag.Parse()
	if err := run(*root, *race, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testcount:", err)
		os.Exit(1)
	}
}

func run(root string, race bool, events io.Reader, out io.Writer) error {
	ran, failed, err := follow(events, out)
	if err != nil {
		return err
	}
	wanted, err := inTree(root, race)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(wanted)), func(name string) bool { return ran.tests[name] })
	fmt.Fprintf(out, "%d tests ran, with %d cases below them, in %d packages; %d were skipped.\n", len(ran.tests),
		ran.cases, len(ran.packages), ran.skipped)
	switch {
	case failed:
		return errors.New("tests failed")
	case len(missing) > 0:
		return fmt.Errorf("%d tests stand in the tree and did not run:\n  %s", len(missing),
			strings.Join(missing, "\n  "))
	}
	return nil
}

// event is a line of `go test -json`: see `go doc test2json`.
type event struct {
	Action, Package, Test, Output string
}

type test struct{ importPath, name string }

// tally counts the tests that ran. A test's name is like "example.com/module/package.TestName".
type tally struct {
	tests    map[string]bool
	packages map[string]bool
	cases    int
	skipped  int
}

// follow prints the output of packages, and the output of tests that failed or did not end.
func follow(events io.Reader, out io.Writer) (ran tally, failed bool, err error) {
	ran = tally{tests: map[string]bool{}, packages: map[string]bool{}}
	said := map[test][]string{} // the output of each running test
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				fmt.Fprint(out, line) // of the go command itself
			} else {
				failed = e.follow(&ran, said, out) || failed
			}
		}
		if errors.Is(err, io.EOF) {
			return ran, failed, nil
		}
		if err != nil {
			return ran, failed, err
		}
	}
}

// follow handles one event, and reports whether it is a failure.
func (e event) follow(ran *tally, said map[test][]string, out io.Writer) (failed bool) {
	name := test{e.Package, e.Test}
	top := !strings.Contains(e.Test, "/")
	switch e.Action {
	case "output", "build-output":
		if e.Test != "" {
			said[name] = append(said[name], e.Output)
		} else if e.Output != "PASS\n" {
			fmt.Fprint(out, e.Output)
		}
	case "run":
		ran.packages[e.Package] = true
		if top {
			ran.tests[e.Package+"."+e.Test] = true
		} else {
			ran.cases++
		}
	case "skip":
		if e.Test != "" {
			ran.skipped++
			fmt.Fprint(out, reason(said[name]))
		}
		delete(said, name)
	case "pass":
		delete(said, name)
	case "fail", "build-fail":
		fmt.Fprint(out, reason(said[name]))
		delete(said, name)
		if e.Test == "" {
			e.cutShort(said, out)
		}
		return true
	}
	return false
}

// cutShort prints the output of a package's tests that were running when its program ended: another test panicked, or
// the time was over.
func (e event) cutShort(said map[test][]string, out io.Writer) {
	for _, t := range slices.SortedFunc(maps.Keys(said), func(a, b test) int {
		return strings.Compare(a.name, b.name)
	}) {
		if t.importPath != e.Package {
			continue
		}
		if text := reason(said[t]); text != "" {
			fmt.Fprintf(out, "--- DID NOT END: %s\n%s", t.name, text)
		}
		delete(said, t)
	}
}

var progress = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) `)

// reason returns the output of a test without the lines that only say that it runs.
func reason(said []string) string {
	return strings.Join(slices.DeleteFunc(said, progress.MatchString), "")
}
