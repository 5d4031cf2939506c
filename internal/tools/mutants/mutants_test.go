package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a module with a function of which its test knows half.
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

func TestLeftOut(t *testing.T) { t.Fatal("it always fails") }
`,
	equivalents: "[]",
}

// smallModule writes the small module, with other texts for some files.
func smallModule(t *testing.T, others map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files := maps.Clone(small)
	maps.Copy(files, others)
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

// runSmall runs all mutants of the small module, and returns what was said and the survivors' names.
func runSmall(t *testing.T, root string, least float64) (survivors []string, said string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), options{root: root, report: "report", packages: []string{"."}, seed: "1", jobs: 2,
		least: least}, &out)
	diff, _ := os.ReadFile(filepath.Join(root, "report", "survivors.diff"))
	for line := range strings.Lines(string(diff)) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "# small.go "); found {
			survivors = append(survivors, name)
		}
	}
	return survivors, out.String(), err
}

func TestWhatNoTestNoticesIsReported(t *testing.T) {
	root := smallModule(t, nil)
	before, err := os.ReadDir(root)
	require.NoError(t, err)
	survivors, said, err := runSmall(t, root, 60)
	require.NoError(t, err, said)
	assert.Equal(t, []string{
		"Least: constant: 10", "Least: swap: a < 10", "Least: swap: a > b", `Paint: swap: c == "red" && wet`,
	}, survivors, said)
	assert.Contains(t, said,
		"SEED=1 N=0: 71.4 %: 10 of 14 killed, 4 survived, 0 of them reached by no test; 0 more do not build")
	assert.Contains(t, said, "left out, for it fails without a mutant: TestLeftOut of .")
	assert.Contains(t, said, "--- small.go:11\n-	if a > b {\n+	if a >= b {\n", "a reader sees the change")

	after, err := os.ReadDir(root)
	require.NoError(t, err)
	assert.Len(t, after, len(before)+1, "nothing but the report is written to the tree")

	_, _, err = runSmall(t, root, 95)
	require.ErrorIs(t, err, errHoles)
}

// Survivors are tried again by themselves, as after a test was written.
func TestSurvivorsAreTriedAgain(t *testing.T) {
	root := smallModule(t, nil)
	_, _, err := runSmall(t, root, 0)
	require.NoError(t, err)
	kept := filepath.Join(t.TempDir(), "survivors.diff")
	require.NoError(t, os.Rename(filepath.Join(root, "report", "survivors.diff"), kept))
	better := strings.Replace(small["small_test.go"], "{{1, 2}, {2, 1}}", "{{1, 2}, {2, 1}, {1, 10}}", 1) +
		"\nfunc TestBound(t *testing.T) {\n\tif _, low := Least(10, 10); low {\n\t\tt.Fatal()\n\t}\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "small_test.go"), []byte(better), 0o600))
	var out bytes.Buffer
	err = run(t.Context(), options{root: root, report: "report", packages: []string{"."}, seed: "1", jobs: 2,
		again: kept, sample: 1}, &out)
	require.NoError(t, err)
	assert.Contains(t, out.String(), "50.0 %: 2 of 4 killed, 2 survived", "the sample's size does not count")
}

func TestEquivalentsAreNotCounted(t *testing.T) {
	root := smallModule(t,
		map[string]string{equivalents: "- reason: two equal numbers are each the smaller one\n" +
			"  mutants: ['small.go Least: swap: a > b']\n"})
	survivors, said, err := runSmall(t, root, 60)
	require.NoError(t, err, said)
	assert.NotContains(t, survivors, "Least: swap: a > b")
	assert.Contains(t, said, "10 of 13 killed")
}

func TestListsOfEquivalentsThatAreWrong(t *testing.T) {
	tests := map[string]struct{ list, want string }{
		"code has changed": {"- {reason: why, mutants: ['small.go Least: swap: a > c']}", "judge it again"},
		"no reason":        {"- {mutants: ['small.go Least: swap: a > b']}", "has no reason"},
		"twice": {"- {reason: why, mutants: ['small.go Least: swap: a > b', 'small.go Least: swap: a > b']}",
			"is there twice"},
		"no list": {"a: b", "cannot unmarshal"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := runSmall(t, smallModule(t, map[string]string{equivalents: test.list}), 0)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestTestsThatDoNotBuildFailTheRun(t *testing.T) {
	_, _, err := runSmall(t, smallModule(t, map[string]string{"small_test.go": "package small\n\nvar x int = \"\"\n"}),
		0)
	require.ErrorContains(t, err, "do not build")
}

// A package's further tests may stand in other modules, in the workspace and outside of it.
func TestTheTestsOfSuitesNoticeToo(t *testing.T) {
	const head = "package held\n\nimport (\n\t\"testing\"\n\n\t\"example.test/small\"\n)\n\n"
	const bound = "func TestBound(t *testing.T) {\n\tif _, low := small.Least(10, 10); low {\n\t\tt.Fatal()\n\t}\n}\n"
	const blue = "func TestBlue(t *testing.T) {\n\tif small.Paint(\"blue\") {\n\t\tt.Fatal()\n\t}\n}\n"
	const alone = "\nrequire example.test/small v0.1.0\n\nreplace example.test/small => ..\n"
	root := smallModule(t, map[string]string{
		"go.work":                  "go 1.26\n\nuse (\n\t.\n\t./suites\n)\n",
		"suites/go.mod":            "module example.test/small/suites\n\ngo 1.26\n",
		"suites/held/held_test.go": head + bound,
		"tools/go.mod":             "module example.test/small/tools\n\ngo 1.26\n" + alone,
		"tools/held_test.go":       head + blue,
	})
	o := options{root: root, report: "report", packages: []string{"."}, seed: "1", jobs: 2}
	for name, test := range map[string]struct {
		suites []testPackage
		want   string
	}{
		"none":             {nil, "10 of 14 killed"},
		"in the workspace": {[]testPackage{{folder: "suites/held"}}, "12 of 14 killed"},
		"some of it":       {[]testPackage{{folder: "suites/held", tests: "^TestOther$"}}, "10 of 14 killed"},
		"outside of it":    {[]testPackage{{folder: "tools", alone: true}}, "11 of 14 killed"},
		"one after another": {[]testPackage{{folder: "suites/held"}, {folder: "tools", alone: true}},
			"13 of 14 killed"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o.suites = map[string][]testPackage{".": test.suites}
			require.NoError(t, run(t.Context(), o, &out), &out)
			assert.Contains(t, out.String(), test.want)
		})
	}
}

// everything loads what a run without flags mutates.
func everything(t *testing.T) (root string, units []*unit) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	units, err = load(t.Context(), root, options{packages: sdk, suites: suites})
	require.NoError(t, err)
	return root, units
}

// TestEquivalentsAreStillThere holds the committed list without a run.
func TestEquivalentsAreStillThere(t *testing.T) {
	_, units := everything(t)
	_, err := readEquivalents("equivalent.yaml", units)
	require.NoError(t, err)
}

func TestWhatUsersLinkIsMutated(t *testing.T) {
	_, units := everything(t)
	var folders []string
	for _, u := range units {
		folders = append(folders, u.Tests[0].folder)
	}
	assert.Subset(t, folders, []string{".", "dapi", "internal/transport", "signing", "signing/internal/ecsig",
		"signing/wallet"})
	for _, folder := range []string{"internal/inprocess", "internal/recorded", "recorded", "sandbox",
		"internal/test/dapi"} {
		assert.NotContains(t, folders, folder)
	}
}

// A suite that is named after a package of the SDK holds that package.
func TestSuitesAreListed(t *testing.T) {
	root, units := everything(t)
	found := map[string][]testPackage{}
	for _, u := range units {
		own, others := u.Tests[0].folder, u.Tests[1:]
		if len(others) > 0 {
			found[own] = others
		}
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
	assert.Equal(t, suites, found, "a package of the list is not mutated")
}

// mutantsOf lists the ids of a source's mutants, without its name, with what they put in place.
func mutantsOf(t *testing.T, text string) (found []string) {
	t.Helper()
	s := &source{Name: "a.go", Text: "package a\n\n" + text}
	require.NoError(t, s.find())
	for _, m := range s.Mutants {
		found = append(found, strings.TrimPrefix(m.ID, "a.go ")+" => "+oneLine(m.plain))
	}
	return found
}

func TestOperators(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"a method": {"func (l *list[T]) add(n int) (m int, err error) { return n, l.err }", []string{
			"list.add: nil: return n, l.err => return n, nil",
			"list.add: early => if true { return *new(int), *new(error) }",
		}},
		"what returns nothing anyway": {"func f() (*int, error) { return nil, nil }", nil},
		"a condition": {"func f() { if x := g(); x != nil && !y { h() } }", []string{
			"f: drop: if x := g(); x != nil && !y { h() } => ", "f: early => if true { return }",
			"f: negate: x != nil && !y => !(x != nil && !y)", "f: swap: x != nil && !y => x != nil || !y",
			"f: swap: x != nil => x == nil", "f: drop: h() => ",
		}},
		"an equality is negated once": {"func f() { for a == b { return } }", []string{
			"f: early => if true { return }", "f: negate: a == b => !(a == b)",
		}},
		"a switch": {"func f() { switch { case a < b: x = 1; default: x-- } }", []string{
			"f: early => if true { return }", "f: negate: a < b => !(a < b)", "f: swap: a < b => a <= b",
			"f: drop: x = 1 => ", "f: constant: 1 => 2", "f: drop: x-- => ", "f: swap: x-- => x++",
		}},
		"constants": {"const a, b, c = `x`, \"\", \"for people\"",
			[]string{"a: constant: `x` => \"\"", "a: constant: \"\" => \"mutant\""}},
		"the same twice": {"var x = 1 + 1", []string{
			"x: swap: 1 + 1 => 1 - 1", "x: constant: 1 => 2", "x: constant: 1 #2 => 2",
		}},
		"a function within": {"var f = func() error { return g() }", []string{"f: nil: return g() => return nil"}},
		"nothing to change": {"import \"fmt\"\n\ntype a struct { b [4]int `json:\"b\"` }\n\nvar _ = fmt.Sprint", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, mutantsOf(t, test.text)) })
	}
}

func TestTheSampleFollowsTheSeed(t *testing.T) {
	order := func(seed string, texts ...string) (ids []string) {
		u := &unit{}
		for _, text := range texts {
			s := &source{Name: "a.go", Text: "package a\n\n" + text}
			require.NoError(t, s.find())
			u.Sources = append(u.Sources, s)
		}
		for _, m := range draw([]*unit{u}, options{seed: seed}, nil) {
			ids = append(ids, m.ID)
		}
		return ids
	}
	const text = "var a, b, c, d = 1, 2, 3, 4"
	first := order("1", text)
	assert.Equal(t, first, order("1", text))
	assert.NotEqual(t, first, order("2", text))
	more := order("1", text+"\n\nvar e = 5")
	without := slices.DeleteFunc(more, func(id string) bool { return strings.HasPrefix(id, "a.go e:") })
	assert.Equal(t, first, without, "code that is added does not shuffle the rest")
}

func TestOnlyWhatIsAskedFor(t *testing.T) {
	o := options{only: []string{"dapi/pay.go", "./signing/", "."}}
	assert.True(t, o.picked("dapi/pay.go"))
	assert.True(t, o.picked("signing/wallet/key.go"))
	assert.True(t, o.picked("card.go"))
	assert.False(t, o.picked("dapi/price.go"))
	assert.False(t, o.picked("signings/key.go"))
	assert.True(t, options{}.picked("dapi/price.go"))
}
