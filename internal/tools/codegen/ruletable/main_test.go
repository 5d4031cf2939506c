package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	someRules = `
sections:
  - title: Pages
    rules:
      - {id: page.limit, text: A limit is 1 to 100., source: Limits}
      - {id: page.no-offset, text: No offset exists., source: Limits, noSDK: it has none}
`
	someSlugs = `
slugs:
  - {slug: not_found, status: 404, condition: There is none.}
`
	hostTest = `package sandbox_test

import "testing"

// TestPages walks.
// Rule: page.limit
// Rule: page.no-offset
func TestPages(t *testing.T) {}
`
	slugTest = `package sandbox_test

import "testing"

func TestSlugs(t *testing.T) {
	for name := range map[string]int{
		// Rule: slug.*
		"not found": 404,
	} {
		t.Run(name, func(*testing.T) {})
	}
}
`
	sdkTest = `package dapi_test

import "testing"

func TestInput(t *testing.T) {
	t.Run("limit", func(*testing.T) {}) // Rule: page.limit
	for _, c := range []struct{ name string }{
		{"a slug"}, // Rule: slug.not_found
	} {
		t.Run(c.name, func(*testing.T) {})
	}
}
`
)

func module(change map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"docs/rules.yaml": someRules, "openapi/errors.yaml": someSlugs,
		"sandbox/page_test.go": hostTest, "sandbox/slug_test.go": slugTest, "dapi/input_test.go": sdkTest,
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range change {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func TestThePageNamesEachRuleWithItsTests(t *testing.T) {
	page, err := generate(module(nil))
	require.NoError(t, err)
	assert.Contains(t, string(page), "3 rules.\n")
	assert.Contains(t, string(page), "| `page.limit` A limit is 1 to 100. | Limits | "+
		"[TestPages](../sandbox/page_test.go) | [TestInput/limit](../dapi/input_test.go) |\n")
	assert.Contains(t, string(page),
		"| `page.no-offset` No offset exists. | Limits | [TestPages](../sandbox/page_test.go) | *it has none* |\n")
	assert.Contains(t, string(page), "| `slug.not_found` 404: There is none. | Errors, Slugs | "+
		"[TestSlugs/not_found](../sandbox/slug_test.go) | [TestInput/a_slug](../dapi/input_test.go) |\n")
}

func TestWhatIsMissingOrWrongIsSaid(t *testing.T) {
	without := func(text, part string) string { return strings.ReplaceAll(text, part, "") }
	for name, c := range map[string]struct{ file, text, want string }{
		"no test of the SDK": {"dapi/input_test.go", without(sdkTest, " // Rule: page.limit"),
			"page.limit: no test of the SDK holds it"},
		"no test of the host": {"sandbox/page_test.go",
			without(hostTest, "// Rule: page.limit\n// Rule: page.no-offset\n"),
			"page.limit: no test of the host holds it\npage.no-offset: no test of the host holds it"},
		"no test of a slug": {"sandbox/slug_test.go", "package sandbox_test",
			"slug.not_found: no test of the host holds it"},
		"an unknown rule": {"dapi/more_test.go", "package dapi_test\n\n// Rule: page.size\nfunc TestSize() {}\n",
			"dapi/more_test.go: TestSize names page.size, and there is no such rule"},
		"an excuse that is none": {"dapi/more_test.go",
			"package dapi_test\n\n// Rule: page.no-offset\nfunc TestSize() {}\n",
			"page.no-offset: a test of the SDK holds it, and the rule says why none does"},
		"a folder of no side": {"examples/more_test.go",
			"package examples_test\n\n// Rule: page.limit\nfunc TestSize() {}\n",
			"examples/more_test.go: TestSize holds rules in a folder that no side is tested in"},
		"inside the host": {"sandbox/internal/gate/more_test.go",
			"package gate\n\n// Rule: page.limit\nfunc TestSize() {}\n",
			"sandbox/internal/gate/more_test.go: TestSize holds rules in a folder that no side is tested in"},
		"misspelled": {"dapi/more_test.go", "package dapi_test\n\n// Rules: page.limit\nfunc TestSize() {}\n",
			`more_test.go:3: a test names rules as in "// Rule: status.404, page.limit"`},
		"not at a test": {"dapi/more_test.go", "package dapi_test\n\n// Rule: page.limit\nfunc size() {}\n",
			`more_test.go:3: a test names rules as in "// Rule: status.404, page.limit"`},
		"not Go": {"dapi/more_test.go", "pack age", "dapi/more_test.go:1:1: expected 'package', found pack"},
		"a rule twice": {"docs/rules.yaml", someRules + "      - {id: page.limit, text: Again., source: Limits}\n",
			"page.limit is there twice"},
		"a silent rule": {"docs/rules.yaml", someRules + "      - {id: page.more, source: Limits}\n",
			"page.more lacks its text or its source"},
		"a strange id": {"docs/rules.yaml", someRules + "      - {id: Page, text: A page., source: Limits}\n",
			`"Page" is no id of a rule`},
		"no test at all": {"docs/rules.yaml",
			someRules + "      - {id: page.more, text: More., source: Limits, noHost: why, noSDK: not}\n",
			"page.more asks for no test at all"},
		"an empty section": {"docs/rules.yaml", someRules + "  - title: Sizes\n",
			`the section "Sizes" has no title or no rule`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := generate(module(map[string]string{c.file: c.text}))
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestThePageIsUpToDate(t *testing.T) {
	root := os.DirFS("../../../..")
	want, err := generate(root)
	require.NoError(t, err)
	page, err := os.ReadFile("../../../../docs/rules.md")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(page), "run go generate ./internal/test/rules")
}
