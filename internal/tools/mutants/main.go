// Command mutants measures how many mistakes the tests of the SDK notice. It changes the hand-written code of the SDK
// and of its wallet in one small place at a time, runs the tests that hold that package, and reports the changes that
// no test noticed. Coverage says that a line ran. This says that a test checks what the line does.
//
//	make mutants                                # 150 places that seed 1 picks, over the whole SDK
//	make mutants SEED=2026 N=300                # other places, and more of them
//	make mutants N=0 ONLY=dapi/pay.go,signing   # every place of some files and folders
//	make mutants JOBS=4                         # four at a time; the default is two
//	make mutants AGAIN=mutants-report/survivors.diff   # the survivors of a report, after tests were written
//
// The same seed picks the same places, and new code hardly moves the other places. mutants-report/ then holds
// summary.txt, and survivors.diff with each change that survived. A change is tried with the tests of its own package
// first, and then with those of suites, below. A test that does not end in time has noticed the change. A change that
// does not build does not count. The tree is never written to: the go command's -overlay replaces the file.
//
// It fails if the tests notice under 88 %. One place in fifty has no visible effect, such as an error that cannot
// happen. These places are not listed. Samples that nobody had seen before came to 93 % and more, and chance moves a
// sample of 150 by five points.
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
	"model":  {{folder: "internal/test/surfaces"}},
	"dapi":   {{folder: "internal/test/dapi"}, {folder: "payments"}}, // which checks what it stores
	"appapi": {{folder: "internal/test/surfaces"}},
	"refapi": {{folder: "internal/test/surfaces"}},
	"public": {{folder: "internal/test/surfaces"}},
	"fleet":  {{folder: "internal/test/fleet"}},
	"internal/ratewindow": {
		// The script for Redis does what the log does.
		{folder: "fleet/redis", tests: "^TestScriptMatchesTheMemoryStore$"},
		{folder: "fleet"}, {folder: "internal/transport"}, // which use all of it
	},
	"internal/outcome": {{folder: "payments"}}, // with the table of all slugs
	"payments":         {{folder: "internal/test/payments"}, {folder: "internal/test/simulation"}},
	"signing":          {{folder: "internal/test/security"}},
	"signing/wallet":   {{folder: "internal/test/security"}},
	"errors":           {{folder: "internal/tools/descriptions", alone: true}}, // which reads the catalogue of errors
}

// errHoles is returned if the tests noticed too few changes.
var errHoles = errors.New("the tests noticed too little")

type options struct {
	root, report string
	packages     []string
	suites       map[string][]testPackage // by the folder of a package
	seed         string
	sample, jobs int
	only         []string // files or folders, from the root
	again        string   // a file of survivors; only these are tried
	least        float64  // per cent
}

func main() {
	o := options{packages: sdk, suites: suites}
	flag.StringVar(&o.root, "root", ".", "folder of the repository")
	flag.StringVar(&o.report, "report", "mutants-report", "folder to write the report to, from the root")
	flag.StringVar(&o.seed, "seed", "1", "what the sample is drawn by")
	flag.IntVar(&o.sample, "n", 150, "how many mutants to try, 0 for all")
	flag.IntVar(&o.jobs, "jobs", 2, "how many to try at once")
	flag.Float64Var(&o.least, "least", 88, "how many per cent the tests have to notice")
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

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	mutants, err := load(ctx, o)
	if err != nil {
		return err
	}
	var survivors []byte
	if o.again != "" {
		if survivors, err = os.ReadFile(o.again); err != nil {
			return err
		}
		o.sample = 0
	}
	mutants = slices.DeleteFunc(mutants, func(m *mutant) bool {
		return !o.picked(m.file) || o.again != "" && !strings.Contains(string(survivors), "# "+m.id+"\n")
	})
	if len(mutants) == 0 {
		return errors.New("nothing was asked for that can be mutated")
	}
	shuffle(mutants, o.seed)
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	results, err := (&trial{options: o, scratch: scratch, out: out}).try(ctx, mutants)
	if err != nil {
		return err
	}
	return o.write(results, out)
}

// picked reports that a file was asked for.
func (o options) picked(file string) bool {
	return len(o.only) == 0 || slices.ContainsFunc(o.only, func(only string) bool {
		only = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(only)), "./")
		return only == "." && !strings.Contains(file, "/") || file == only || strings.HasPrefix(file, only+"/")
	})
}

// write writes summary.txt and survivors.diff, prints them, and judges.
func (o options) write(results []result, out io.Writer) error {
	count := map[outcome]int{}
	var survivors []string
	for _, one := range results {
		if count[one.outcome]++; one.outcome == survived {
			survivors = append(survivors, "# "+one.id+"\n"+one.diff()+"\n")
		}
	}
	slices.Sort(survivors)
	score, counted := 100.0, count[killed]+count[survived]
	if counted > 0 {
		score = 100 * float64(count[killed]) / float64(counted)
	}
	command := fmt.Sprintf("make mutants SEED=%s N=%d ONLY=%s AGAIN=%s", o.seed, o.sample, strings.Join(o.only, ","),
		o.again)
	summary := fmt.Sprintf("%s: %.1f %%: %d of %d killed, %d survived; %d more do not build\n", command, score,
		count[killed], counted, count[survived], count[noBuild])
	diff := strings.Join(survivors, "")
	fmt.Fprintf(out, "\n%s\n%s", diff, summary)

	folder := filepath.Join(o.root, o.report)
	err := os.MkdirAll(folder, 0o755)
	for name, text := range map[string]string{"survivors.diff": diff, "summary.txt": summary} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	if err == nil && score < o.least {
		return fmt.Errorf("%w: %.1f %%, and %.0f %% are due", errHoles, score, o.least)
	}
	return err
}
