package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// outcome is the result of trying a mutant.
type outcome string

const (
	killed   outcome = "killed"
	survived outcome = "survived"
	unseen   outcome = "no test reaches it" // counts as a survivor
	noBuild  outcome = "does not build"     // does not count
)

type result struct {
	*mutant
	Outcome outcome
}

// trial tries mutants.
type trial struct {
	root, scratch string
	jobs          int
	sample        int // how many results must count, 0 for all
	out           io.Writer
	leftOut       []string // tests that fail without a mutant
}

// tests is the test program of a package, ready to run.
type tests struct {
	testPackage
	program, dir string

	clean   time.Duration            // of all tests, one by one
	took    map[string]time.Duration // each test alone
	reached map[int][]string         // tests by the number of a mutant, the quick ones first

	lock    sync.Mutex
	noticed map[string][]string // tests that noticed a mutant of a function, the latest first
}

// try tries mutants in their order, until enough results count.
func (t *trial) try(ctx context.Context, drawn []*mutant) ([]result, error) {
	if t.sample > 0 {
		drawn = drawn[:min(len(drawn), 2*t.sample)] // more than the sample, because some do not build
	}
	ready := map[*unit][]*tests{}
	for _, m := range drawn {
		if _, is := ready[m.unit]; is {
			continue
		}
		all, err := t.prepare(ctx, m.unit)
		if err != nil {
			return nil, err
		}
		ready[m.unit] = all
	}
	results := make([]result, len(drawn))
	next, counted := 0, 0
	var lock sync.Mutex
	take := func(before outcome) (int, bool) {
		lock.Lock()
		defer lock.Unlock()
		if before == noBuild {
			counted--
		}
		if next == len(drawn) || t.sample > 0 && counted == t.sample || ctx.Err() != nil {
			return 0, false
		}
		next++
		counted++
		return next - 1, true
	}
	var workers sync.WaitGroup
	for worker := range t.jobs {
		workers.Go(func() {
			folder := filepath.Join(t.scratch, "worker"+strconv.Itoa(worker))
			_ = os.MkdirAll(folder, 0o700)
			var before outcome
			for {
				i, more := take(before)
				if !more {
					return
				}
				m := drawn[i]
				before = t.one(ctx, folder, ready[m.unit], m)
				results[i] = result{m, before}
				lock.Lock()
				fmt.Fprintf(t.out, "%-10s %s\n", before, m.ID)
				lock.Unlock()
			}
		})
	}
	workers.Wait()
	return results[:next], ctx.Err()
}

// prepare builds the test programs of a package with all its mutants.
func (t *trial) prepare(ctx context.Context, u *unit) (ready []*tests, err error) {
	folder := filepath.Join(t.scratch, strings.ReplaceAll(u.ImportPath, "/", "_"))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	o := overlay{t.root, folder}
	texts, err := o.switchable(ctx, u)
	if err != nil {
		return nil, err
	}
	for _, in := range u.Tests {
		program, said, err := o.testProgram(ctx, in, texts)
		if err != nil {
			return nil, fmt.Errorf("the tests in %s do not build with the mutants of %s: %w\n%s", in, u.ImportPath, err,
				said)
		}
		if _, err := os.Stat(program); os.IsNotExist(err) {
			continue // the package has no test files
		}
		p := &tests{
			testPackage: in, program: program, dir: filepath.Join(t.root, filepath.FromSlash(in.folder)),
			took: map[string]time.Duration{}, reached: map[int][]string{}, noticed: map[string][]string{},
		}
		if err := t.reach(ctx, folder, p); err != nil {
			return nil, err
		}
		ready = append(ready, p)
	}
	return ready, ctx.Err()
}

// reach runs each test alone, and notes the mutants that it reaches.
func (t *trial) reach(ctx context.Context, folder string, p *tests) error {
	names, err := p.list(ctx)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	todo := make(chan string)
	var workers sync.WaitGroup
	for worker := range t.jobs {
		workers.Go(func() {
			seen := filepath.Join(folder, "reached"+strconv.Itoa(worker))
			for name := range todo {
				_ = os.Remove(seen)
				started := time.Now()
				_, passes := p.passes(ctx, p.program, 0, []string{name}, 10*time.Minute, "MUTANTS_REACHED="+seen)
				took := time.Since(started)
				text, _ := os.ReadFile(seen)
				lock.Lock()
				if passes {
					p.took[name] = took
					p.clean += took
					for _, number := range strings.Fields(string(text)) {
						n, _ := strconv.Atoi(number)
						p.reached[n] = append(p.reached[n], name)
					}
				} else {
					t.leftOut = append(t.leftOut, name+" of "+p.String())
				}
				lock.Unlock()
			}
		})
	}
	for _, name := range names {
		todo <- name
	}
	close(todo)
	workers.Wait()
	for _, names := range p.reached {
		slices.SortFunc(names, func(a, b string) int { return int(p.took[a] - p.took[b]) })
	}
	fmt.Fprintf(t.out, "%s: %d tests, %.1f s\n", p, len(p.took), p.clean.Seconds())
	return ctx.Err()
}

// one tries one mutant with the tests of its package, and then with those of its suites.
func (t *trial) one(ctx context.Context, folder string, ready []*tests, m *mutant) outcome {
	o, texts := overlay{t.root, folder}, map[string]string{m.source.Path: m.plainText()}
	if m.switched == nil {
		if _, err := o.build(ctx, m.unit, texts); err != nil {
			return noBuild
		}
	}
	is := unseen
	for _, p := range ready {
		names, program := p.reaching(m), p.program
		if len(names) == 0 {
			continue
		}
		is = survived
		if m.switched == nil {
			var err error
			if program, _, err = o.testProgram(ctx, p.testPackage, texts); err != nil {
				return noBuild
			}
		}
		if p.notice(ctx, program, m, names) {
			return killed
		}
	}
	return is
}

// notice runs tests with a mutant on. It begins with the tests that noticed another mutant of the same function, and
// continues with the quickest.
func (p *tests) notice(ctx context.Context, program string, m *mutant, names []string) bool {
	noticed, others := p.likely(m, names)
	for _, names := range [][]string{noticed, others} {
		for len(names) > 0 {
			var spent time.Duration
			some := 0
			for some < len(names) && (some == 0 || spent+p.took[names[some]] < max(batch, p.clean/10)) {
				spent += p.took[names[some]]
				some++
			}
			if failed, passed := p.passes(ctx, program, m.number, names[:some], grace+5*spent); !passed {
				p.note(m, failed)
				return true
			}
			names = names[some:]
		}
	}
	return false
}

// likely separates the tests that noticed other mutants of the same function from the rest.
func (p *tests) likely(m *mutant, names []string) (noticed, others []string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, name := range p.noticed[m.source.Name+m.in] {
		if slices.Contains(names, name) {
			noticed = append(noticed, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(noticed, name) {
			others = append(others, name)
		}
	}
	return noticed, others
}

func (p *tests) note(m *mutant, failed string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if function := m.source.Name + m.in; failed != "" && !slices.Contains(p.noticed[function], failed) {
		p.noticed[function] = append([]string{failed}, p.noticed[function]...)
	}
}

// reaching lists the tests that reach a mutant, the quickest first. For a mutant with its own build, it lists the tests
// that reach the code around it.
func (p *tests) reaching(m *mutant) []string {
	if m.switched != nil {
		return p.reached[m.number]
	}
	var around *mutant
	for _, other := range m.source.Mutants {
		if other.switched != nil && (other.from <= m.from && m.to <= other.to || around == nil &&
			other.operator == "early" && other.in == m.in) {
			around = other
		}
	}
	if around != nil {
		return p.reached[around.number]
	}
	all := slices.Collect(maps.Keys(p.took))
	slices.SortFunc(all, func(a, b string) int { return int(p.took[a] - p.took[b]) })
	return all
}

const (
	batch = 2 * time.Second // time of the tests of one run, or a tenth of the time of all
	grace = 5 * time.Second
)

// passes runs some tests, with a mutant on if it is not 0, and returns the name of the first that failed. A test that
// does not end in time has failed, without a name.
func (p *tests) passes(ctx context.Context, program string, number int, names []string, within time.Duration,
	environment ...string) (
	failed string, passed bool,
) {
	ctx, cancel := context.WithTimeout(ctx, within+grace)
	defer cancel()
	// The shell limits the memory, because a mutated loop could use all of it.
	const bounded = `ulimit -v 16000000 2>/dev/null; exec "$@"`
	command := exec.CommandContext(ctx, "sh", "-c", bounded, "sh", program, "-test.failfast",
		"-test.timeout="+within.String(),
		"-test.run=^("+strings.Join(names, "|")+")$")
	command.Dir = p.dir
	command.Env = append(append(os.Environ(), "MUTANT="+strconv.Itoa(number)), environment...)
	out, err := command.Output()
	if found := failure.FindSubmatch(out); found != nil {
		failed = string(found[1])
	}
	return failed, err == nil
}

// failure matches the line in which a test program names a failed test.
var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
