package rules_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// statedRule is an entry of stated.yaml.
type statedRule struct {
	ID, Text, Source string
	NoHost           string `yaml:"noHost"`
	NoSDK            string `yaml:"noSDK"`
}

func statedRules(t *testing.T) (stated []statedRule) {
	t.Helper()
	var list struct {
		Sections []struct{ Rules []statedRule }
	}
	var catalogue struct {
		Slugs []struct{ Slug, Condition string }
	}
	for name, into := range map[string]any{"stated.yaml": &list, root + "/openapi/errors.yaml": &catalogue} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, into))
	}
	for _, section := range list.Sections {
		stated = append(stated, section.Rules...)
	}
	for _, slug := range catalogue.Slugs {
		stated = append(stated, statedRule{ID: "slug." + slug.Slug, Text: slug.Condition, Source: "Errors, Slugs"})
	}
	return stated
}

// Each rule of the service has a test of the sandbox host, over plain HTTP, and a test of the SDK, which name it. A
// client made with the SDK could share the host's mistakes, so the host's tests are those in its own folder.
func TestEachStatedRuleHasItsTests(t *testing.T) {
	stated := statedRules(t)
	require.Greater(t, len(stated), 150)
	assert.Empty(t, untested(t, os.DirFS(root), stated))
}

var namesRules = regexp.MustCompile(`// Rule: ([a-z0-9.*_-]+(?:, [a-z0-9.*_-]+)*)$`)

// untested returns what is wrong with the rules, and with the tests that name them. A * at the end of a name stands for
// any ending.
func untested(t *testing.T, tree fs.FS, stated []statedRule) (found []string) {
	t.Helper()
	host, sdk := map[string]bool{}, map[string]bool{}
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		side := sdk
		if path.Dir(name) == "sandbox" {
			side = host
		}
		for line := range strings.Lines(string(text)) {
			names := namesRules.FindStringSubmatch(strings.TrimRight(line, "\n"))
			if names == nil {
				if strings.HasPrefix(strings.TrimSpace(line), "// Rule:") {
					found = append(found, name+": not like // Rule: status.404, page.limit")
				}
				continue
			}
			for _, named := range strings.Split(names[1], ", ") {
				start, open := strings.CutSuffix(named, "*")
				known := false
				for _, rule := range stated {
					if rule.ID == named || open && strings.HasPrefix(rule.ID, start) {
						known, side[rule.ID] = true, true
					}
				}
				if !known {
					found = append(found, name+": there is no rule "+named)
				}
			}
		}
		return err
	}))
	seen := map[string]bool{}
	for _, rule := range stated {
		if seen[rule.ID] || rule.Text == "" || rule.Source == "" || rule.NoHost != "" && rule.NoSDK != "" {
			found = append(found, rule.ID+": twice, or without a text, a source, or any test")
		}
		seen[rule.ID] = true
		if (rule.NoHost == "") != host[rule.ID] {
			found = append(found, rule.ID+": a test of the host, or noHost")
		}
		if (rule.NoSDK == "") != sdk[rule.ID] {
			found = append(found, rule.ID+": a test of the SDK, or noSDK")
		}
	}
	return found
}

func TestARuleWithoutItsTestsIsFound(t *testing.T) {
	tree := fstest.MapFS{
		"sandbox/a_test.go": {Data: []byte("// Ru" + "le: page.limit\n")},
		"dapi/a_test.go":    {Data: []byte("// Ru" + "le: page.*\n\t// Ru" + "le: gone.rule\n")},
	}
	assert.Equal(t, []string{"dapi/a_test.go: there is no rule gone.rule", "page.size: a test of the host, or noHost"},
		untested(t, tree, []statedRule{
			{ID: "page.limit", Text: "a", Source: "b"},
			{ID: "page.offset", Text: "a", Source: "b", NoHost: "c"},
			{ID: "page.size", Text: "a", Source: "b"},
		}))
}
