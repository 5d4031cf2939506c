package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// testPackage is a package with tests.
type testPackage struct {
	folder string // from the root of the repository, with slashes
	tests  string // a regular expression of their names; empty for all
	alone  bool   // its module is not in the workspace
}

func (p testPackage) String() string {
	if p.folder == "." {
		return "."
	}
	return "./" + p.folder
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

// overlay builds with other texts in place of files. It never changes the tree.
type overlay struct {
	root, folder string // the root of the repository, and a folder for builds
}

// write writes an overlay file with texts by their paths.
func (o overlay) write(texts map[string]string) (flag string, err error) {
	replaced := map[string]string{}
	for path, text := range texts {
		copied := filepath.Join(o.folder, filepath.Base(path))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[path] = copied
	}
	listed, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	name := filepath.Join(o.folder, "overlay.json")
	return "-overlay=" + name, os.WriteFile(name, listed, 0o600)
}

// build builds a package alone, and returns the output of the compiler.
func (o overlay) build(
	ctx context.Context, u *unit, texts map[string]string, flags ...string,
) (said string, err error) {
	flag, err := o.write(texts)
	if err != nil {
		return "", err
	}
	out, err := goCommand(ctx, o.root, u.Tests[0], slices.Concat([]string{"build", flag}, flags, []string{"."})...).
		CombinedOutput()
	return string(out), err
}

// testProgram builds tests.
func (o overlay) testProgram(
	ctx context.Context, tests testPackage, texts map[string]string,
) (program, said string, err error) {
	flag, err := o.write(texts)
	if err != nil {
		return "", "", err
	}
	program = filepath.Join(o.folder, strings.ReplaceAll(tests.folder, "/", "_")+".test")
	out, err := goCommand(ctx, o.root, tests, "test", "-c", "-ldflags=-s -w", flag, "-o", program, ".").CombinedOutput()
	return program, string(out), err
}

// switchable returns the texts of a package with all its mutants in them. A mutant that does not compile in that form
// gets its own build.
func (o overlay) switchable(ctx context.Context, u *unit) (texts map[string]string, err error) {
	number := 0
	for _, s := range u.Sources {
		for _, m := range s.Mutants {
			number++
			m.number = number
		}
	}
	for {
		texts := map[string]string{filepath.Join(u.Dir, "mutants_switch.go"): supportFor(u)}
		for _, s := range u.Sources {
			texts[s.Path] = s.switchedText()
		}
		said, err := o.build(ctx, u, texts, "-gcflags=-e")
		if err == nil {
			return texts, nil
		}
		if !u.unswitch(said, texts) {
			return nil, fmt.Errorf("%s does not build with its mutants: %w\n%s", u.ImportPath, err, said)
		}
	}
}

var (
	complaint = regexp.MustCompile(`(?m)([^/\s:]+\.go):(\d+):(?:(\d+):)? `)
	switchUse = regexp.MustCompile(`\bmuta(?:ted|nt[A-Z]\w*)\(\s*(\d+)`)
)

// unswitch removes the switches that the compiler reported: the nearest to each reported place. It returns false if
// there are none.
func (u *unit) unswitch(said string, texts map[string]string) (changed bool) {
	wrong := map[int]bool{}
	for path, text := range texts {
		uses := switchUse.FindAllStringSubmatchIndex(text, -1)
		for _, found := range complaint.FindAllStringSubmatch(said, -1) {
			if filepath.Base(path) != found[1] || len(uses) == 0 {
				continue
			}
			at := placeOf(text, found[2], found[3])
			nearest := slices.MinFunc(uses, func(a, b []int) int { return abs(a[0]-at) - abs(b[0]-at) })
			number, _ := strconv.Atoi(text[nearest[2]:nearest[3]])
			wrong[number] = true
		}
	}
	for _, s := range u.Sources {
		for _, m := range s.Mutants {
			if wrong[m.number] && m.switched != nil {
				m.switched, changed = nil, true
			}
		}
	}
	return changed
}

// placeOf converts a line and a column to an offset. In long lines, the compiler leaves the column out.
func placeOf(text, line, column string) int {
	wanted, _ := strconv.Atoi(line)
	at := 0
	for one := range strings.Lines(text) {
		if wanted--; wanted == 0 {
			if column == "" {
				return at + len(one)
			}
			break
		}
		at += len(one)
	}
	within, _ := strconv.Atoi(column)
	return at + within - 1
}

func abs(n int) int { return max(n, -n) }

// list asks the test program for the names of its tests.
func (p *tests) list(ctx context.Context) ([]string, error) {
	command := exec.CommandContext(ctx, p.program, "-test.list", cmp.Or(p.testPackage.tests, "."))
	command.Dir = p.dir
	out, err := command.Output()
	names := strings.Fields(string(out))
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "Benchmark") }), err
}
