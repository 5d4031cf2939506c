package descriptions_test

import (
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

const (
	// decimalPattern is the description's pattern of a decimal that travels as a string. Its look-ahead is beyond RE2.
	decimalPattern = `^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`
	// decimalRE2 accepts exactly the same strings; TestDecimalPatternHasAnEquivalent proves it.
	decimalRE2 = `^[+-]?(?:\d+\.?\d*|\.\d+)$`
)

// surfaces are the files that describe operations.
var surfaces = []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml"}

// descriptions are all OpenAPI files.
var descriptions = append(slices.Clone(surfaces), "common.yaml")

// compilePattern is the pattern compiler that every reader of these files needs.
func compilePattern(expression string) (openapi3.RegexMatcher, error) {
	if expression == decimalPattern {
		expression = decimalRE2
	}
	return regexp.Compile(expression)
}

// load reads a file and what it refers to out of the embedded files, and nothing else.
func load(t *testing.T, name string) *openapi3.T {
	t.Helper()
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return fs.ReadFile(openapi.Files, location.Path)
	}
	document, err := loader.LoadFromURI(&url.URL{Path: name})
	require.NoError(t, err)
	return document
}

// source is a file as plain maps and lists, with every mark in place. It is parsed once and only read.
func source(t *testing.T, name string) map[string]any {
	t.Helper()
	if parsed, ok := sources.Load(name); ok {
		return parsed.(map[string]any)
	}
	raw, err := fs.ReadFile(openapi.Files, name)
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, yaml.Unmarshal(raw, &document))
	sources.Store(name, document)
	return document
}

var sources sync.Map // file name to parsed document

// walk visits every mapping of a tree with its JSON pointer.
func walk(pointer string, node any, visit func(pointer string, mapping map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(pointer, node)
		for key, value := range node {
			walk(pointer+"/"+strings.ReplaceAll(key, "/", "~1"), value, visit)
		}
	case []any:
		for i, value := range node {
			walk(pointer+"/"+strconv.Itoa(i), value, visit)
		}
	}
}

// object is a mapping inside a mapping; a missing one is empty.
func object(node map[string]any, path ...string) map[string]any {
	for _, key := range path {
		node, _ = node[key].(map[string]any)
	}
	return node
}
