package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// made writes a source as a generated file, makes it readable and returns it.
func made(t *testing.T, source, unexport string, keepAliases bool) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api.gen.go")
	require.NoError(t, os.WriteFile(path, []byte("package api\n\n"+source), 0o600))
	if err := run(filepath.Dir(path), unexport, "", keepAliases); err != nil {
		return "", err
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.TrimPrefix(string(written), "package api\n\n"), nil
}

func TestCommentsAreSentences(t *testing.T) {
	got, err := made(t, "// A payout of `amount`, see `Other.size` and `nextCursor`.\ntype Payout struct {\n"+
		"\t// Amount The sum.\n\tAmount string `json:\"amount\"`\n"+
		"\t// BankName The name of the bank.\n\tBankName string `json:\"bankName\"`\n"+
		"\t// Kind Always `sepa`.\n\tKind string `json:\"kind\"`\n}\n\n"+
		"// Books a payout.\n//\n// Twice.\ntype PayoutCreate struct{}\n\n"+
		"// Other An object.\ntype Other struct {\n\tSize int `json:\"size\"`\n"+
		"\tNextCursor string `json:\"nextCursor\"`\n}\n",
		"", false)
	require.NoError(t, err)
	assert.Equal(t, "// Payout is a payout of Amount, see Other.Size and NextCursor.\ntype Payout struct {\n"+
		"\t// The sum.\n\tAmount string `json:\"amount\"`\n"+
		"\n\tBankName string `json:\"bankName\"`\n"+
		"\t// Always \"sepa\".\n\tKind string `json:\"kind\"`\n}\n\n"+
		"// PayoutCreate books a payout.\n//\n// Twice.\ntype PayoutCreate struct{}\n\n"+
		"// Other is an object.\ntype Other struct {\n\tSize       int    `json:\"size\"`\n"+
		"\tNextCursor string `json:\"nextCursor\"`\n}\n", got)
}

func TestValuesAreNotRenamedAsFields(t *testing.T) {
	got, err := made(t,
		"// A contact.\ntype Contact struct {\n\t// Type Always `email`.\n\tType string `json:\"type\"`\n"+
			"\tEmail string `json:\"email\"`\n\tAdditionalProperties map[string]any `json:\"-\"`\n}\n", "", false)
	require.NoError(t, err)
	assert.Contains(t, got, "\t// Always \"email\".\n")
	assert.Contains(t, got, "\n\t// The other fields of the JSON object, by their JSON name.\n\tAdditionalProperties")
}

func TestEnumerationsSayThatTheyAreOpen(t *testing.T) {
	got, err := made(t,
		"// The status of a payout.\ntype Status string\n\nconst (\n\tA Status = \"a\"\n\tB Status = \"b\"\n)\n\n"+
			"func (s Status) Known() bool { return s == A }\n\n"+
			"// The word that selects a wallet.\ntype Wallet string\n\n"+
			"const OnlyOne Wallet = \"wallet\"\n\n// The kind of key.\ntype Kind string\n\n"+
			"const (\n\tC Kind = \"c\"\n\tD Kind = \"d\"\n)\n",
		"", false)
	require.NoError(t, err)
	assert.Contains(t, got,
		"// Status is the status of a payout. The service can add values. Known reports whether this "+
			"version knows a value.\n")
	assert.Contains(t, got, "// Wallet is the word that selects a wallet.\n")
	assert.Contains(t, got, "// Kind is the kind of key. The service can add values.\n")
}

func TestADescriptionThatIsNoSentenceIsRefused(t *testing.T) {
	for _, comment := range []string{"// Thing defines model for Thing.", "// What is paid.", "// Payouts"} {
		_, err := made(t, comment+"\ntype Thing struct{}\n", "", false)
		if comment == "// Payouts" { // reads as a verb
			require.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, "Thing", comment)
	}
}

func TestTypesAreUnexported(t *testing.T) {
	source := "// A list of things.\ntype ThingList struct {\n\tThingList []ThingList `json:\"thingList\"`\n}\n\n" +
		"func (l *ThingList) ThingListOf() *ThingList { return &ThingList{ThingList: l.ThingList} }\n"
	got, err := made(t, source, "ThingList", false)
	require.NoError(t, err)
	assert.Equal(t,
		"// thingList is a list of things.\n"+
			"type thingList struct {\n\tThingList []thingList `json:\"thingList\"`\n}\n\n"+
			"func (l *thingList) ThingListOf() *thingList { return &thingList{ThingList: l.ThingList} }\n", got)
	_, err = made(t, source, "Gone", false)
	assert.ErrorContains(t, err, "no type Gone")
}

func TestAliasesOfPlainTypesAreReplaced(t *testing.T) {
	source := "// A page size.\ntype Limit = int\n\n// A series of bytes.\ntype Bytes = []byte\n\nvar _ = 0\n\n" +
		"// A page.\ntype Page struct {\n\tLimit Limit `json:\"limit\"`\n\tBytes Bytes `json:\"bytes\"`\n}\n"
	got, err := made(t, source, "", false)
	require.NoError(t, err)
	assert.Equal(t,
		"// Page is a page.\ntype Page struct {\n\tLimit int    `json:\"limit\"`\n\tBytes []byte `json:\"bytes\"`\n}\n",
		got)
	got, err = made(t, source, "", true)
	require.NoError(t, err)
	assert.Contains(t, got, "type Limit = int")
	assert.Contains(t, got, "Limit Limit `")
}

func TestWideLinesAreBroken(t *testing.T) {
	long := strings.Repeat("x", 60)
	got, err := made(t, "// A thing "+strings.Repeat("that is long ", 20)+".\ntype Thing struct{ A, B string }\n\n"+
		"var thing = Thing{A: \""+long+"\", B: \""+long+"\"}\n\n"+
		"func of(first, second, third string, "+long+" int, "+long+"s string) bool {\n"+
		"\tif first == \""+long+"\" && second == \""+long+"\" {\n"+
		"\t\treturn of(\""+long+"\", \""+long+"\", first, second, third)\n\t}\n"+
		"\tswitch first {\n\tcase \""+long+"\", \""+long+"\", \"a\":\n\t\treturn true\n\t}\n\treturn false\n}\n", "",
		false)
	require.NoError(t, err)
	for line := range strings.Lines(got) {
		assert.LessOrEqual(t, gosource.Columns(strings.TrimSuffix(line, "\n")), gosource.Most, line)
	}
	assert.Contains(t, got, "var thing = Thing{\n\tA: \""+long+"\",\n\tB: \""+long+"\",\n}\n")
	again, err := made(t, got, "", false)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(got, " ", ""), strings.ReplaceAll(again, " ", ""), "what is readable stays")
}

func TestRenamedTypesAndConstants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.gen.go")
	source := "package api\n\n// Sum is one of [Old].\ntype Sum struct{}\n\n// Old is a thing.\n" +
		"type Old struct{ Old string }\n\n" +
		"func (Old) isSum() {}\n\n// The kinds.\nconst KindOne Kind = \"one\"\n\n// Kind is a kind.\ntype Kind string\n"
	require.NoError(t, os.WriteFile(path, []byte(source), 0o600))
	require.ErrorContains(t, run(filepath.Dir(path), "", "Gone=New", false), "Gone=New")
	require.ErrorContains(t, run(filepath.Dir(path), "", "Old=new", false), "Old=new")
	require.NoError(t, run(filepath.Dir(path), "", "Old=New,KindOne=One", false))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("[Old]", "[New]", "// Old", "// New", "type Old", "type New", "(Old)", "(New)",
		"KindOne", "One").Replace(source), string(written))
}
