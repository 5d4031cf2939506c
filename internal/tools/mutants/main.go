// Command mutants measures how many mistakes the tests of the SDK notice. It changes hand-written code in one small
// place at a time, runs the tests of that package, and reports each change that no test noticed. [docs/mutants.md]
// explains the report.
//
// Run it with `make mutants`.
//
// [docs/mutants.md]: ../../docs/mutants.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// sdk lists the packages whose hand-written files are changed: the packages of the two modules that users link, without
// those that only tests import.
var sdk = []string{"./...", "./signing/wallet/..."}

// suites lists further tests, by the folder of their package. They are in another module, because their own module does
// not require what they import.
var suites = map[string][]testPackage{
	"model":  {{folder: "internal/test/model"}},
	"dapi":   {{folder: "internal/test/dapi"}, {folder: "payments"}}, // which checks what it stores
	"appapi": {{folder: "internal/test/appapi"}},
	"refapi": {{folder: "internal/test/refapi"}},
	"public": {{folder: "internal/test/public"}},
	"fleet":  {{folder: "internal/test/fleet"}},
	"internal/ratewindow": {
		// The script for Redis does what the log does.
		{folder: "fleet/redis", tests: "^TestTheScriptDoesWhatTheMemoryDoes$"},
		{folder: "fleet"}, {folder: "internal/transport"}, // which use all of it
	},
	"internal/outcome": {{folder: "payments"}}, // with the table of all slugs
	"payments":         {{folder: "internal/test/payments"}, {folder: "internal/test/simulation"}},
	"signing":          {{folder: "internal/test/vectors"}},
	"signing/wallet":   {{folder: "internal/test/vectors"}},
	"errors":           {{folder: "internal/tools/descriptions", alone: true}},
}

// equivalents is the file with the changes that change nothing, from the root.
const equivalents = "internal/tools/mutants/equivalent.yaml"

// errHoles is returned if the tests noticed too few changes.
var errHoles = errors.New("the tests noticed too little")

type options struct {
	root, report string
	packages     []string
	suites       map[string][]testPackage // by the folder of a package
	seed         string
	sample, jobs int
	only         []string // files or folders, from the root
	again        string   // a report; only its survivors are tried
	survivors    map[string]bool
	least        float64 // per cent
}

func main() {
	o := options{packages: sdk, suites: suites}
	flag.StringVar(&o.root, "root", ".", "folder of the repository")
	flag.StringVar(&o.report, "report", "mutants-report", "folder to write the report to, from the root")
	flag.StringVar(&o.seed, "seed", "1", "what the sample is drawn by")
	flag.IntVar(&o.sample, "n", 150, "how many mutants to try, 0 for all")
	flag.IntVar(&o.jobs, "jobs", 2, "how many to try at once")
	flag.Float64Var(&o.least, "least", 95, "how many per cent the tests have to notice")
	flag.Func("only", "files or folders to mutate, separated by commas", func(list string) error {
		o.only = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	})
	flag.StringVar(&o.again, "again", "", "file of survivors of a report, to try these alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1) //nolint:gocritic // the signal's handler may stay
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	packages, err := load(ctx, root, o)
	if err != nil {
		return err
	}
	harmless, err := readEquivalents(filepath.Join(root, equivalents), packages)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	if o.again != "" {
		if o.survivors, err = readSurvivors(o.again); err != nil {
			return err
		}
		o.sample = 0
	}
	drawn := draw(packages, o, harmless)
	t := trial{root: root, scratch: scratch, jobs: o.jobs, sample: o.sample, out: out}
	results, err := t.try(ctx, drawn)
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return errors.New("nothing was asked for that can be mutated")
	}
	r := report{Command: o.command(), Results: results, LeftOut: t.leftOut}
	if err := r.write(filepath.Join(root, o.report), out); err != nil {
		return err
	}
	if r.score() < o.least {
		return fmt.Errorf("%w: %.1f %%, and %.0f %% are due", errHoles, r.score(), o.least)
	}
	return nil
}

// command returns the command that repeats the run.
func (o options) command() string {
	words := []string{"make mutants", "SEED=" + o.seed, fmt.Sprintf("N=%d", o.sample)}
	if o.again != "" {
		return "make mutants AGAIN=" + o.again
	}
	if len(o.only) > 0 {
		words = append(words, "ONLY="+strings.Join(o.only, ","))
	}
	return strings.Join(words, " ")
}

// picked reports that a file was asked for.
func (o options) picked(file string) bool {
	return len(o.only) == 0 || slices.ContainsFunc(o.only, func(only string) bool {
		only = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(only)), "./")
		return only == "." && !strings.Contains(file, "/") || file == only || strings.HasPrefix(file, only+"/")
	})
}
