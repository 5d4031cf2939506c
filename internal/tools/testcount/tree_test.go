package main

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTestsOfTheTree(t *testing.T) {
	other := "windows"
	if runtime.GOOS == other {
		other = "linux"
	}
	const test = "package p\n\nimport \"testing\"\n\n"
	root := tree(t, map[string]string{
		"go.mod": "// A comment.\nmodule example.test/tree\n\ngo 1.26\n",
		"a_test.go": test +
			"func TestA(t *testing.T) {}\n\nfunc TestMain(m *testing.M) {}\n\nfunc FuzzA(f *testing.F) {}\n\n" +
			"func BenchmarkA(b *testing.B) {}\n",
		"names_test.go": test +
			"func Test(t *testing.T) {}\n\nfunc Test_b(t *testing.T) {}\n\nfunc Testing() {}\n\nfunc Testél() {}\n\n" +
			"type s struct{}\n\nfunc (s) TestMethod(t *testing.T) {}\n",
		"examples_test.go": "package p_test\n\nfunc Example() {\n\t// Output: x\n}\n\n" +
			"func ExampleT_M_second() {\n\t// Unordered output: x\n}\n\n" +
			"func ExampleNothing() {\n\t// Output:\n}\n\nfunc ExampleUnread() {}\n",
		"with/race_test.go":             "//go:build race\n\n" + test + "func TestWithRace(t *testing.T) {}\n",
		"with/none_test.go":             "//go:build !race\n\n" + test + "func TestWithoutRace(t *testing.T) {}\n",
		"other/x_" + other + "_test.go": test + "func TestElsewhere(t *testing.T) {}\n",
		"code/code.go":                  "package code\n\nfunc TestNoTest() {}\n",
		"sub/go.mod":                    "module example.test/elsewhere\n\ngo 1.26\n",
		"sub/deep/er/x_test.go":         test + "func TestDeep(t *testing.T) {}\n",
		"beside/x_test.go":              test + "func TestBeside(t *testing.T) {}\n",
		"bin/x_test.go":                 test + "func TestInBin(t *testing.T) {}\n",
		"testdata/x_test.go":            test + "func TestInTestdata(t *testing.T) {}\n",
		"a/testdata/x_test.go":          "no Go\n",
		"_left/x_test.go":               test + "func TestLeft(t *testing.T) {}\n",
		".hidden/x_test.go":             test + "func TestHidden(t *testing.T) {}\n",
		"node_modules/m/x_test.go":      test + "func TestOfNode(t *testing.T) {}\n",
	})
	always := []string{
		"example.test/elsewhere/deep/er.TestDeep",
		"example.test/tree.Example", "example.test/tree.ExampleNothing", "example.test/tree.ExampleT_M_second",
		"example.test/tree.FuzzA", "example.test/tree.Test", "example.test/tree.TestA", "example.test/tree.Test_b",
		"example.test/tree/beside.TestBeside", "example.test/tree/bin.TestInBin",
	}
	for _, folder := range []string{root, root + "/"} {
		found, err := inTree(folder, false)
		require.NoError(t, err)
		assert.Equal(t, append(slices.Clone(always), "example.test/tree/with.TestWithoutRace"),
			slices.Sorted(maps.Keys(found)))

		found, err = inTree(folder, true)
		require.NoError(t, err)
		assert.Equal(t, append(slices.Clone(always), "example.test/tree/with.TestWithRace"),
			slices.Sorted(maps.Keys(found)))
	}
}

func TestATreeThatCannotBeRead(t *testing.T) {
	_, err := inTree(tree(t, map[string]string{"go.mod": module, "a_test.go": "package a\n\nfunc {\n"}), false)
	require.Error(t, err)
	_, err = inTree("/nowhere", false)
	require.Error(t, err)
}
