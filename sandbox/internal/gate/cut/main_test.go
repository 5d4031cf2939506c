package main

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// Every operation is described as in its file. Both are compared with each reference replaced by its target.
func TestEveryOperationIsDescribedAsInItsFile(t *testing.T) {
	inFiles := targets{}
	for _, name := range []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml", "common.yaml"} {
		text, err := openapi.Files.ReadFile(name)
		require.NoError(t, err)
		var document object
		require.NoError(t, yaml.Unmarshal(text, &document))
		inFiles[name] = document
	}
	for _, s := range surfaces {
		lines, err := surface{name: s.name}.lines() // with the names that the file leaves open
		require.NoError(t, err)
		file := s.name + ".yaml"
		paths, described := inFiles[file]["paths"].(object), 0
		for _, item := range paths {
			described += len(item.(object))
		}
		for line := range strings.Lines(string(lines)) {
			method, rest, _ := strings.Cut(line, " ")
			path, text, _ := strings.Cut(rest, " ")
			var alone object
			require.NoError(t, json.Unmarshal([]byte(text), &alone))
			inLine := targets{"": alone}
			got := inLine.inlined(t, "", member(t, alone, "paths", path, strings.ToLower(method)))
			want := inFiles.inlined(t, file, member(t, paths, path, strings.ToLower(method)))
			assert.JSONEq(t, want, got, "%s %s", method, path)
			described--
		}
		assert.Zero(t, described, "operations of %s, or parameters of whole paths, are missing", file)
	}
}

// The same files always give the same bytes.
func TestCutIsDeterministic(t *testing.T) {
	for _, s := range surfaces {
		first, err := s.lines()
		require.NoError(t, err)
		second, err := s.lines()
		require.NoError(t, err)
		assert.Equal(t, string(first), string(second))
	}
}

// targets are the documents that references point to, by file.
type targets map[string]object

// inlined returns a part of a file, without what the host does not read.
func (all targets) inlined(t *testing.T, file string, part any) string {
	whole := all.inline(t, file, part)
	shorten(whole)
	text, err := json.Marshal(whole, json.Deterministic(true))
	require.NoError(t, err)
	return string(text)
}

// inline replaces references by their targets. The variants of a discriminator are references too.
func (all targets) inline(t *testing.T, file string, part any) any {
	switch part := part.(type) {
	case string:
		other, place, found := strings.Cut(part, "#/components/")
		if !found || strings.Contains(other, " ") {
			return part
		}
		if other == "" {
			other = file
		}
		kind, name := path.Split(place)
		return all.inline(t, other, member(t, all[other], "components", strings.TrimSuffix(kind, "/"), name))
	case []any:
		elements := []any{}
		for _, element := range part {
			elements = append(elements, all.inline(t, file, element))
		}
		return elements
	case object:
		if target, ok := part["$ref"]; ok {
			return all.inline(t, file, target)
		}
		members := object{}
		for _, name := range slices.Sorted(maps.Keys(part)) {
			members[name] = all.inline(t, file, part[name])
		}
		return members
	default:
		return part
	}
}

func member(t *testing.T, whole object, names ...string) any {
	t.Helper()
	var part any = whole
	for _, name := range names {
		require.Contains(t, part, name)
		part = part.(object)[name]
	}
	return part
}
