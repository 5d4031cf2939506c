package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a module with a function of which its test knows half. Two other modules hold the rest.
var small = map[string]string{
	"go.mod": "module example.test/small\n\ngo 1.26\n",
	"small.go": `package small

import "time"

type Colour string

const Patience = 2 * time.Second

// Least returns the smaller number, and whether it is below the bound.
func Least(a, b int) (int, bool) {
	if a > b {
		a = b
	}
	return a, a < 10
}

func Paint(c Colour) bool { return c == "red" && wet }

var wet = true

func unused() error { return nil }
`,
	"small_test.go": `package small

import (
	"testing"
	"time"
)

func TestLeast(t *testing.T) {
	for _, pair := range [][2]int{{1, 2}, {2, 1}} {
		if least, low := Least(pair[0], pair[1]); least != 1 || !low {
			t.Fatal(least, low)
		}
	}
}

func TestPatience(t *testing.T) {
	if Patience != 2*time.Second {
		t.Fatal(Patience)
	}
}

func TestPaint(t *testing.T) {
	if !Paint("red") {
		t.Fatal()
	}
}
`,
	"go.work":       "go 1.26\n\nuse (\n\t.\n\t./suites\n)\n",
	"suites/go.mod": "module example.test/small/suites\n\ngo 1.26\n",
	"suites/held/held_test.go": holds +
		"func TestBound(t *testing.T) {\n\tif _, low := small.Least(10, 10); low {\n\t\tt.Fatal()\n\t}\n}\n",
	"tools/go.mod": "module example.test/small/tools\n\ngo 1.26\n\nrequire example.test/small v0.1.0\n\n" +
		"replace example.test/small => ..\n",
	"tools/held_test.go": holds +
		"func TestBlue(t *testing.T) {\n\tif small.Paint(\"blue\") {\n\t\tt.Fatal()\n\t}\n}\n",
}

const holds = "package held_test\n\nimport (\n\t\"testing\"\n\n\t\"example.test/small\"\n)\n\n"

// runSmall runs the mutants of the small module, and returns what was printed.
func runSmall(t *testing.T, o options) (root, said string, err error) {
	t.Helper()
	root = t.TempDir()
	for name, text := range small {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	var out bytes.Buffer
	o.root, o.report, o.packages, o.seed, o.jobs = root, "report", []string{"."}, "1", 2
	err = run(t.Context(), o, &out)
	return root, out.String(), err
}

func TestSurvivorsAreReported(t *testing.T) {
	root, said, err := runSmall(t, options{least: 60})
	require.NoError(t, err, said)
	assert.Contains(t, said, "71.4 %: 10 of 14 killed, 4 survived; 0 more do not build")
	assert.Contains(t, said, "# small.go Least: swap: a > b\n--- small.go:11\n-	if a > b {\n+	if a >= b {\n")
	for _, survivor := range []string{"Least: constant: 10", "Least: swap: a < 10", `Paint: swap: c == "red" && wet`} {
		assert.Contains(t, said, "# small.go "+survivor+"\n")
	}
	text, err := os.ReadFile(filepath.Join(root, "small.go"))
	require.NoError(t, err)
	assert.Equal(t, small["small.go"], string(text), "the tree is never written to")

	survivors := filepath.Join(root, "report", "survivors.diff")
	_, said, err = runSmall(t, options{again: survivors})
	require.NoError(t, err)
	assert.Contains(t, said, ": 0.0 %: 0 of 4 killed")
	_, said, err = runSmall(t, options{sample: 3, only: []string{"small.go"}, least: 101})
	require.ErrorIs(t, err, errHoles)
	assert.Contains(t, said, "of 3 killed")
	_, _, err = runSmall(t, options{only: []string{"other.go"}})
	assert.ErrorContains(t, err, "nothing was asked for")
}

func TestTestsInOtherModules(t *testing.T) {
	held := map[string][]testPackage{
		".": {{folder: "suites/held", tests: "^TestBound$"}, {folder: "tools", alone: true}},
	}
	_, said, err := runSmall(t, options{suites: held})
	require.NoError(t, err, said)
	assert.Contains(t, said, "13 of 14 killed")
	held["."] = []testPackage{{folder: "tools"}} // which is not in the workspace
	_, _, err = runSmall(t, options{suites: held})
	assert.ErrorContains(t, err, "the tests of tools fail without a change")
}

// What users link is mutated, and a suite that is named after a package of the SDK holds that package.
func TestPackagesAndSuites(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	mutants, err := load(t.Context(), options{root: root, packages: sdk, suites: suites})
	require.NoError(t, err)
	found := map[string][]testPackage{}
	for _, m := range mutants {
		found[m.unit.tests[0].folder] = m.unit.tests[1:]
	}
	for _, folder := range []string{".", "internal/transport", "signing/internal/ecsig", "signing/wallet"} {
		assert.Contains(t, found, folder)
	}
	for _, folder := range []string{"internal/inprocess", "recorded", "sandbox"} {
		assert.NotContains(t, found, folder)
	}
	for own := range suites {
		assert.Contains(t, found, own, "a package of the list is not mutated")
	}
	for own, others := range found {
		for _, suite := range others {
			tests, err := filepath.Glob(filepath.Join(root, suite.folder, "*_test.go"))
			require.NoError(t, err)
			assert.NotEmpty(t, tests, suite.folder)
		}
		named := "internal/test/" + own
		if info, err := os.Stat(filepath.Join(root, named)); own != "." && err == nil && info.IsDir() {
			assert.Contains(t, others, testPackage{folder: named})
		}
	}
}

// mutantsOf lists the ids of a text's mutants, without its name, with what they put in place.
func mutantsOf(t *testing.T, text string) (ids []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(path, []byte("package a\n\n"+text), 0o600))
	found, err := find("a.go", path)
	require.NoError(t, err)
	shuffle(found, "1")
	for _, m := range found {
		ids = append(ids, strings.TrimPrefix(m.id, "a.go ")+" => "+strings.TrimSpace(m.with))
	}
	return ids
}

func TestOperators(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a method": {"func (l *list[T]) add(n int) (m int, err error) { return n, l.err }", []string{
			"list.add: nil: return n, l.err => if true { return n, nil }; return n, l.err",
			"list.add: early => if true { return *new(int), *new(error) }",
		}},
		"what returns nothing anyway": {"func f() (*int, error) { return nil, nil }", nil},
		"a condition": {"func f() { if x := g(); x != nil && !y { h() } }", []string{
			"f: drop: if x := g(); x != nil && !y { h() } => if false { if x := g(); x != nil && !y { h() } }",
			"f: early => if true { return }", "f: negate: x != nil && !y => !(x != nil && !y)",
			"f: swap: x != nil && !y => x != nil || !y", "f: swap: x != nil => x == nil",
			"f: drop: h() => if false { h() }",
		}},
		"an equality is negated once": {"func f() { for a == b { return } }", []string{
			"f: early => if true { return }", "f: negate: a == b => !(a == b)",
		}},
		"a switch": {"func f() { switch { case a < b: x = 1; default: x-- } }", []string{
			"f: early => if true { return }", "f: negate: a < b => !(a < b)", "f: swap: a < b => a <= b",
			"f: drop: x = 1 => if false { x = 1 }", "f: constant: 1 => 2", "f: drop: x-- => if false { x-- }",
			"f: swap: x-- => x++",
		}},
		"constants": {"const a, b, c, d = `x`, \"\", \"for people\", true",
			[]string{"a: constant: `x` => \"\"", "a: constant: \"\" => \"mutant\"", "a: constant: true => false"}},
		"the same twice": {"var x = 1 + 1", []string{
			"x: swap: 1 + 1 => 1 - 1", "x: constant: 1 => 2", "x: constant: 1 #2 => 2",
		}},
		"a function within": {"var f = func() error { return g() }",
			[]string{"f: nil: return g() => if true { return nil }; return g()"}},
		"nothing to change": {"import \"fmt\"\n\ntype a struct { b [4]int `json:\"b\"` }\n\nvar _ = fmt.Sprint", nil},
	} {
		t.Run(name, func(t *testing.T) { assert.ElementsMatch(t, test.want, mutantsOf(t, test.text)) })
	}
}

func TestSampleIsStableWhenCodeIsAdded(t *testing.T) {
	const text = "var a, b, c, d = 1, 2, 3, 4"
	more := mutantsOf(t, text+"\n\nvar e = 5")
	assert.Equal(t, mutantsOf(t, text), slices.DeleteFunc(more, func(id string) bool { return id[0] == 'e' }))
}

func TestOnlySelectsFiles(t *testing.T) {
	o := options{only: []string{"dapi/pay.go", "./signing/", "."}}
	for file, want := range map[string]bool{"dapi/pay.go": true, "signing/wallet/key.go": true, "card.go": true,
		"dapi/price.go": false, "signings/key.go": false} {
		assert.Equal(t, want, o.picked(file), file)
	}
	assert.True(t, options{}.picked("dapi/price.go"))
}
