package openapi_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// flowMapping begins a mapping in braces, alone or within a list.
var flowMapping = regexp.MustCompile(`^\s*(?:- )*(?:\S+: )?(?:\[\s*)?\{[^}]`)

// A difference of these files is read line by line: one member a line, and no line too long to be seen whole. The rows
// of coverage.yaml are a table.
func TestFilesAreInBlockStyle(t *testing.T) {
	names, err := fs.Glob(openapi.Files, "*.yaml")
	require.NoError(t, err)
	for _, name := range names {
		source, err := fs.ReadFile(openapi.Files, name)
		require.NoError(t, err)
		for i, line := range strings.Split(string(source), "\n") {
			assert.Less(t, utf8.RuneCountInString(line), 120, "%s:%d is too long", name, i+1)
			if name != "coverage.yaml" {
				assert.NotRegexp(t, flowMapping, line, "%s:%d: one member a line", name, i+1)
			}
		}
	}
}

func TestFlowMappingsAreFound(t *testing.T) {
	for line, found := range map[string]bool{
		"  id: {type: string}": true, "- {$ref: '#/a'}": true, "  allOf: [{$ref: '#/a'}]": true,
		"{type: string, enum: [a]}": true, "      - - { a: b }": true,
		"paths: {}": false, "  - url: '{base_url}/v1'": false, "/payouts/{payoutId}:": false, "enum: [a, b]": false,
		"  of the form `{a: b}`": false,
	} {
		assert.Equal(t, found, flowMapping.MatchString(line), line)
	}
}
