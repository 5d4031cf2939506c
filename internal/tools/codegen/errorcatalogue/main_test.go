package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const repository = "../../../.."

func TestGeneratedFilesAreCurrent(t *testing.T) {
	to := t.TempDir()
	for _, file := range []string{codeFile, pageFile, adviceFile} {
		require.NoError(t, os.MkdirAll(filepath.Join(to, filepath.Dir(file)), 0o755))
	}
	require.NoError(t, run(repository, to))
	for _, file := range []string{codeFile, pageFile, adviceFile} {
		fresh, err := os.ReadFile(filepath.Join(to, file))
		require.NoError(t, err)
		committed, err := os.ReadFile(filepath.Join(repository, file))
		require.NoError(t, err)
		assert.Equal(t, string(committed), string(fresh), "run go generate ./errors")
	}
}

func TestRenderDoesNotDependOnTheOrderOfTheSlugs(t *testing.T) {
	const a, b = "  - {slug: a_b, status: 400, condition: A.}\n", "  - {slug: b_id, status: 409, condition: B.}\n"
	assert.Equal(t, mustRender(t, head+a+b), mustRender(t, head+b+a))
}

func TestRenderSaysWhatIsAssumed(t *testing.T) {
	code := mustRender(t, head+`  - slug: invalid_id
    status: 400
    condition: The id is wrong.
    hint: pass another
    remedy: restart
    moved: {value: maybe_moved, x-assumed: Nobody knows.}
    details: [{name: Prefix, key: expectedPrefix, type: string, doc: is the prefix}]
  - {slug: gone, status: 410, condition: It is gone.}
  - {slug: short, status: 409, condition: It is short., x-assumed: {condition: So is what is thin.}}
`)
	for _, want := range []string{
		"CodeInvalidID Code = \"invalid_id\" // 400",
		"// InvalidID is the error for invalid_id (HTTP 400). The id is wrong.\n//\n" +
			"// What to do: pass another.\n//\n" +
			"// The remedy is [RemedyRestart]. For a write, MovedByCall returns [MaybeMoved] " +
			"(assumed: Nobody knows).\n//\n" +
			"// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#invalid_id\n",
		"// Gone is the error for gone (HTTP 410). It is gone.\n//\n" +
			"// The remedy is [RemedyChangeRequest] (assumed). For a write, MovedByCall " +
			"returns [NotMoved] (assumed).\n",
		"// Short is the error for short (HTTP 409). It is short.\n// Assumed: So is what is thin.\n//\n// The remedy",
		"type InvalidID struct {\n\tRefusal\n\t// Prefix is the prefix.\n\tPrefix string\n}",
		`Prefix:  d.text("expectedPrefix"),`,
	} {
		assert.Contains(t, code, want)
	}
	assert.NotContains(t, code, "decimal", "nothing here needs one")
}

func TestCommentsAreWrapped(t *testing.T) {
	for line := range strings.Lines(goComment(strings.Repeat("word ", 200))) {
		assert.True(t, strings.HasPrefix(line, "// word"))
		assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 118)
	}
}

func TestMistakesInTheCatalogueAreRefused(t *testing.T) {
	for name, tc := range map[string]struct{ source, want string }{
		"no slugs":       {"slugs: []", "no slugs"},
		"misspelled key": {head + "  - {slug: a, status: 400, condition: A., remdy: wait}", "remdy"},
		"unknown remedy": {head + "  - {slug: a, status: 400, condition: A., remedy: later}",
			`unknown remedy "later"`},
		"unknown movement": {head + "  - {slug: a, status: 400, condition: A., moved: yes}",
			`unknown movement "yes"`},
		"assumed, no reason": {head + "  - {slug: a, status: 400, condition: A., moved: {value: moved}}",
			"needs both value and x-assumed"},
		"no condition": {head + "  - {slug: a, status: 400}", "no condition"},
		"status of a success": {head + "  - {slug: a, status: 200, condition: A.}",
			"status 200 is not an error status"},
		"not snake_case": {head + "  - {slug: aB, status: 400, condition: A.}", "not snake_case"},
		"listed twice": {head +
			"  - {slug: a, status: 400, condition: A.}\n  - {slug: a, status: 400, condition: A.}", "listed twice"},
		"type taken": {head +
			"  - {slug: a, status: 400, condition: A.}\n  - {slug: b, type: A, status: 400, condition: B.}",
			"type A is taken"},
		"type not exported": {head + "  - {slug: a, type: a, status: 400, condition: A.}", "not an exported Go name"},
		"unknown detail type": {head +
			"  - {slug: a, status: 400, condition: A., details: [{name: B, key: b, type: float, doc: b}]}",
			`unknown type "float"`},
		"detail without doc": {head +
			"  - {slug: a, status: 400, condition: A., details: [{name: B, key: b, type: string}]}",
			`detail "B" needs`},
		"value without name": {head +
			"  - {slug: a, status: 400, condition: A., details: [{name: B, key: b, " +
			"type: string, doc: b, values: [{value: v}]}]}", `value "v"`},
		"folded into nothing": {one + "unreached: [{slug: x, foldedInto: y}]", `unknown slug "y"`},
		"unreached, no fate":  {one + "unreached: [{slug: x}]", "needs either foldedInto or neverRaised"},
		"reached after all":   {one + "unreached: [{slug: a, neverRaised: true}]", "both reachable and unreached"},
		"odd field code":      {one + "fieldCodes: [{code: Odd, doc: d}]", `field code "Odd"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(tc.source))
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestRunNamesTheFile(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(from, "openapi"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(from, catalogueFile), []byte("slugs: []"), 0o600))
	require.ErrorContains(t, run(from, to), "openapi/errors.yaml: ")
	left, err := os.ReadDir(to)
	require.NoError(t, err)
	assert.Empty(t, left, "a broken catalogue writes nothing")
}

const (
	head = `defaults:
  remedy: {value: change_request, x-assumed: r}
  moved: {value: not_moved, x-assumed: m}
slugs:
`
	one = head + "  - {slug: a, status: 400, condition: A.}\n"
)

func mustRender(t *testing.T, source string) string {
	t.Helper()
	c, err := parse([]byte(source))
	require.NoError(t, err)
	code, err := render(c)
	require.NoError(t, err)
	return string(code)
}
