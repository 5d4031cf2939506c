package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// testPackage is a package with tests.
type testPackage struct {
	folder string // from the root of the repository, with slashes
	tests  string // a regular expression of their names; empty for all
	alone  bool   // its module is not in the workspace
}

// unit is a package whose files are changed.
type unit struct {
	ImportPath, Dir string
	GoFiles, Deps   []string

	tests []testPackage // its own first, then its suites
}

// goCommand returns the go command in the folder of a package, in the repository's workspace if the package is in it.
func goCommand(ctx context.Context, root string, in testPackage, words ...string) *exec.Cmd {
	work := filepath.Join(root, "go.work")
	if _, err := os.Stat(work); err != nil || in.alone {
		work = "off"
	}
	command := exec.CommandContext(ctx, "go", words...)
	command.Dir = filepath.Join(root, filepath.FromSlash(in.folder))
	command.Env = append(os.Environ(), "GOWORK="+work)
	return command
}

// load finds the mutants in the hand-written files of packages. It leaves out package recorded, which is for the tests
// of users, and internal packages that no other of the packages imports.
func load(ctx context.Context, o options) (mutants []*mutant, err error) {
	command := goCommand(ctx, o.root, testPackage{},
		append([]string{"list", "-json=ImportPath,Dir,GoFiles,Deps"}, o.packages...)...)
	command.Stderr = os.Stderr
	said, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var units []*unit
	linked := map[string]bool{}
	for decoder := jsontext.NewDecoder(bytes.NewBuffer(said)); decoder.PeekKind() == '{'; {
		u := &unit{}
		if err := json.UnmarshalDecode(decoder, u); err != nil {
			return nil, err
		}
		units = append(units, u)
		if !strings.Contains(u.ImportPath+"/", "/internal/") && !strings.HasSuffix(u.ImportPath, "/recorded") {
			for _, path := range append(u.Deps, u.ImportPath) {
				linked[path] = true
			}
		}
	}
	for _, u := range units {
		folder, err := filepath.Rel(o.root, u.Dir)
		if err != nil {
			return nil, err
		}
		folder = filepath.ToSlash(folder)
		u.tests = append([]testPackage{{folder: folder}}, o.suites[folder]...)
		for _, file := range u.GoFiles {
			if !linked[u.ImportPath] || strings.HasSuffix(file, ".gen.go") {
				continue
			}
			found, err := find(filepath.ToSlash(filepath.Join(folder, file)), filepath.Join(u.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				m.unit = u
			}
			mutants = append(mutants, found...)
		}
	}
	return mutants, nil
}

// shuffle sorts mutants in the order of a seed. The place of each depends on its id only, so that new code hardly
// changes a sample.
func shuffle(mutants []*mutant, seed string) {
	place := map[*mutant][sha256.Size]byte{}
	for _, m := range mutants {
		place[m] = sha256.Sum256([]byte(seed + "\n" + m.id))
	}
	slices.SortFunc(mutants, func(a, b *mutant) int {
		left, right := place[a], place[b]
		return bytes.Compare(left[:], right[:])
	})
}

// outcome is the result of trying a mutant.
type outcome string

const (
	killed   outcome = "killed"
	survived outcome = "survived"
	noBuild  outcome = "does not build" // does not count
)

type result struct {
	*mutant
	outcome outcome
}

// trial tries mutants.
type trial struct {
	options

	scratch string
	out     io.Writer

	lock  sync.Mutex
	clean map[testPackage]func() (time.Duration, error)
}

// try tries mutants in their order, until enough results count.
func (t *trial) try(ctx context.Context, drawn []*mutant) (results []result, err error) {
	t.clean = map[testPackage]func() (time.Duration, error){}
	next, running := 0, 0
	var workers sync.WaitGroup
	for worker := range t.jobs {
		folder := filepath.Join(t.scratch, strconv.Itoa(worker))
		if err = os.Mkdir(folder, 0o700); err != nil {
			break
		}
		workers.Go(func() {
			t.lock.Lock()
			defer t.lock.Unlock()
			for next < len(drawn) && err == nil {
				if t.sample > 0 && len(results)-count(results, noBuild)+running >= t.sample {
					break
				}
				m := drawn[next]
				next++
				running++
				t.lock.Unlock()
				is, failed := t.one(ctx, folder, m)
				t.lock.Lock()
				running--
				err = errors.Join(err, failed, ctx.Err())
				results = append(results, result{m, is})
				fmt.Fprintf(t.out, "%-10s %s\n", is, m.id)
			}
		})
	}
	workers.Wait()
	return results, err
}

// one tries one mutant with the tests of its package, and then with those of its suites.
func (t *trial) one(ctx context.Context, folder string, m *mutant) (outcome, error) {
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	listed, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(t.root, filepath.FromSlash(m.file)): changed,
	}})
	err = errors.Join(err, os.WriteFile(overlay, listed, 0o600), os.WriteFile(changed, []byte(m.mutated()), 0o600))
	if err != nil {
		return "", err
	}
	for _, tests := range m.unit.tests {
		took, err := t.cleanRun(ctx, tests)
		if err != nil {
			return "", err
		}
		said := t.test(ctx, folder, tests, grace+5*took, "-overlay="+overlay)
		if errors.Is(said, errNoBuild) {
			return noBuild, nil
		}
		if said != nil {
			return killed, nil //nolint:nilerr // a test that fails is what the change is for
		}
	}
	return survived, nil
}

// cleanRun returns how long tests take without a mutant. They run once.
func (t *trial) cleanRun(ctx context.Context, tests testPackage) (time.Duration, error) {
	t.lock.Lock()
	once, is := t.clean[tests]
	if !is {
		once = sync.OnceValues(func() (time.Duration, error) {
			folder := filepath.Join(t.scratch, strings.ReplaceAll(tests.folder, "/", "_"))
			started := time.Now()
			if err := t.test(ctx, folder, tests, 10*time.Minute); err != nil {
				return 0, fmt.Errorf("the tests of %s fail without a change: %w", tests.folder, err)
			}
			return time.Since(started), nil
		})
		t.clean[tests] = once
	}
	t.lock.Unlock()
	return once()
}

const grace = 10 * time.Second

var errNoBuild = errors.New("no build")

// test builds and runs tests. Tests that do not end in time fail.
func (t *trial) test(
	ctx context.Context, folder string, tests testPackage, within time.Duration, flags ...string,
) error {
	program := filepath.Join(folder, "program.test")
	words := slices.Concat([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program}, flags, []string{"."})
	if said, err := goCommand(ctx, t.root, tests, words...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w\n%s", errNoBuild, err, said)
	}
	if _, err := os.Stat(program); err != nil {
		return nil // there are no tests
	}
	defer os.Remove(program)
	ctx, cancel := context.WithTimeout(ctx, within+grace)
	defer cancel()
	// The shell limits the memory, because a mutated loop could use all of it.
	const bounded = `ulimit -v 16000000 2>/dev/null; exec "$@"`
	command := exec.CommandContext(ctx, "sh", "-c", bounded, "sh", program, "-test.failfast",
		"-test.timeout="+within.String(), "-test.run="+cmp.Or(tests.tests, "."))
	command.Dir = filepath.Join(t.root, filepath.FromSlash(tests.folder))
	command.WaitDelay = grace // for the output of processes that a test started
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

func count(results []result, of outcome) (n int) {
	for _, one := range results {
		if one.outcome == of {
			n++
		}
	}
	return n
}
