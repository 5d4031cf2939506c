package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files below a folder of its own.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

// events is what go test -json says of the module in a folder, whether the tests pass or not.
func events(t *testing.T, folder string) *bytes.Buffer {
	t.Helper()
	tests := exec.CommandContext(t.Context(), "go", "test", "-json", "./...")
	tests.Dir = folder
	tests.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	said, err := tests.Output()
	if err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return bytes.NewBuffer(said)
}

const module = "module example.test/counted\n\ngo 1.26\n"

func TestWhatRanIsCounted(t *testing.T) {
	root := tree(t, map[string]string{
		"go.mod": module,
		"passes/passes_test.go": `package passes

import (
	"fmt"
	"testing"
)

func TestPasses(t *testing.T) {
	t.Log("nobody reads this")
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) { t.Run("below", func(t *testing.T) {}) })
}

func Example() {
	fmt.Println("said")
	// Output: said
}
`,
		"passes/fuzz_test.go": "package passes\n\nimport \"testing\"\n\n" +
			"func FuzzPasses(f *testing.F) {\n\tf.Add(\"a seed\")\n\tf.Fuzz(func(t *testing.T, _ string) {})\n}\n",
		"skips/skips_test.go": `package skips

import "testing"

func TestSkips(t *testing.T) { t.Skip("it needs a network") }

func TestSkipsACase(t *testing.T) { t.Run("case", func(t *testing.T) { t.Skip("it needs a printer") }) }
`,
		"empty/empty.go": "package empty\n",
	})
	var out bytes.Buffer
	require.NoError(t, run(root, false, events(t, root), &out))
	assert.Contains(t, out.String(), "5 tests ran, with 5 cases below them, in 2 packages; 2 were skipped.\n")
	assert.Contains(t, out.String(), "ok  \texample.test/counted/passes\t")
	assert.Contains(t, out.String(), "skips_test.go:5: it needs a network\n")
	assert.Contains(t, out.String(), "skips_test.go:7: it needs a printer\n")
	for _, unread := range []string{"nobody reads this", "=== RUN", "PASS\n"} {
		assert.NotContains(t, out.String(), unread)
	}
}

// A reader sees why a run failed, also where the program ended before the test did.
func TestWhatFailedIsShown(t *testing.T) {
	body := func(text string) string {
		return "import (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\n\n" + text + "\n"
	}
	root := tree(t, map[string]string{
		"go.mod": module,
		"fails/fails_test.go": "package fails\n\n" +
			body(`func TestFails(t *testing.T) { t.Error("the sum is wrong") }`),
		"case/case_test.go": "package cased\n\n" +
			body(`func TestCase(t *testing.T) { t.Run("c", func(t *testing.T) { t.Error("a case is wrong") }) }`),
		"build/build_test.go": "package build\n\n" + body(`func TestBuild(t *testing.T) { nowhere() }`),
		"panics/panics_test.go": "package panics\n\n" +
			body(`func TestPanics(t *testing.T) { go func() { panic("far from the test") }(); select {} }`),
		"exits/exits_test.go": "package exits\n\n" +
			body(`func TestExits(t *testing.T) { t.Log("ends the program"); os.Exit(3) }`),
		"main/main_test.go": "package main\n\n" +
			body("func TestMain(m *testing.M) { println(\"cannot begin\"); os.Exit(4) }\n\n"+
				"func TestNever(t *testing.T) {}"),
		"passes/passes_test.go": "package passes\n\n" +
			body(`func TestPasses(t *testing.T) { t.Log("nobody reads this") }`),
	})
	var out bytes.Buffer
	require.EqualError(t, run(root, false, events(t, root), &out), "tests failed")
	for _, shown := range []string{
		"the sum is wrong", "--- FAIL: TestFails", "a case is wrong", "--- FAIL: TestCase/c", "undefined: nowhere",
		"panic: far from the test",
		"--- DID NOT END: TestExits\n    exits_test.go:10: ends the program\n", "cannot begin",
		"ok  \texample.test/counted/passes",
	} {
		assert.Contains(t, out.String(), shown)
	}
	assert.NotContains(t, out.String(), "nobody reads this")
	assert.NotContains(t, out.String(), "=== ")
}

// ./... ends where a module begins: the tests of one that nobody named do not run.
func TestWhatDidNotRunIsAnError(t *testing.T) {
	const test = "package counted\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {}\n"
	root := tree(t, map[string]string{
		"go.mod":                module,
		"it_test.go":            test,
		"forgotten/go.mod":      "module example.test/counted/forgotten\n\ngo 1.26\n",
		"forgotten/it_test.go":  test,
		"forgotten/a/b_test.go": test,
	})
	var out bytes.Buffer
	require.EqualError(t, run(root, false, events(t, root), &out), "2 tests stand in the tree and did not run:\n"+
		"  example.test/counted/forgotten.TestIt\n  example.test/counted/forgotten/a.TestIt")
	assert.Contains(t, out.String(), "1 tests ran, with 0 cases below them, in 1 packages; 0 were skipped.\n",
		"the number is said all the same")

	both := events(t, root)
	both.Write(events(t, filepath.Join(root, "forgotten")).Bytes())
	require.NoError(t, run(root, false, both, &out))
}

func TestWhatIsNoEventIsPassedOn(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t,
		run(t.TempDir(), false,
			strings.NewReader("go: downloading\n\n{\"Action\":\"start\",\"Package\":\"p\"}\nthe end"), &out))
	assert.Equal(t, "go: downloading\n\nthe end0 tests ran, with 0 cases below them, in 0 packages; 0 were skipped.\n",
		out.String())
}
