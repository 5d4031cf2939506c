package rules_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// apiOf returns the lines of internal/tools/api/*.txt, by the file's name without its ending. `make api` compares them
// with the code.
func apiOf(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal/tools/api/*.txt"))
	require.NoError(t, err)
	require.Greater(t, len(files), 15, "next to nothing is listed")
	listed := map[string][]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		listed[strings.TrimSuffix(filepath.Base(file), ".txt")] = strings.Split(string(content), "\n")
	}
	return listed
}

// packageOf returns the name of the package that lines are of.
func packageOf(lines []string) string { return strings.Fields(lines[0])[1] }

var (
	// declaredName finds the name that a line declares: of a field or a method without the type.
	declaredName = regexp.MustCompile(`^(?:(?:const|func|type|var) |field [^.]+\.|method \([^)]+\) )(\w+)`)
	// mixedCase finds initialisms that are not all capitals: Iban, Cvv and Urls, and not Paid or Swiftly.
	mixedCase = regexp.MustCompile(`(Ach|Bic|Cnpj|Cpf|Cvv|Eft|Eur|Evm|Evp|Fps|Fx|Http|Iban|Id|Json|Kyb|Kyc|Mcp|` +
		`Msa|Nda|Nip|Npp|Pdf|Pix|Pse|Rtp|Sepa|Spei|Swift|Uaefts|Ukfps|Upi|Url|Usdc?|Uuid)s?([A-Z0-9]|$)`)
	// alias finds an alias, and namedType what it may stand for.
	alias     = regexp.MustCompile(`^type (\w+) = (.+)$`)
	namedType = regexp.MustCompile(`^(\w+\.)?[A-Z]\w*(\[.+\])?$`)
	// ofPackage finds the package of a type, and quoted what is no code.
	ofPackage = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]`)
	quoted    = regexp.MustCompile(`".*"`)
)

// Names follow Go: an initialism is written in capitals. internal/tools/codegen/oapi lists those of generated names.
func TestInitialismsAreCapitals(t *testing.T) {
	for name, lines := range apiOf(t) {
		assert.Empty(t, mixed(lines), name)
	}
}

// An alias of a basic type, such as a page size, says nothing that the plain type does not say.
func TestNoAliasOfAPlainTypeIsExported(t *testing.T) {
	for name, lines := range apiOf(t) {
		assert.Empty(t, plainAliases(lines), name)
	}
}

// A program cannot name a type of an internal package, so no exported signature has one.
func TestNoInternalTypeIsExported(t *testing.T) {
	listed := apiOf(t)
	hidden := map[string]bool{}
	for _, n := range read(t).own() {
		if slices.Contains(strings.Split(n.path, "/"), "internal") {
			hidden[path.Base(n.path)] = true
		}
	}
	for _, lines := range listed {
		delete(hidden, packageOf(lines))
	}
	require.Greater(t, len(hidden), 30, "next to nothing was found")
	for name, lines := range listed {
		if !strings.HasPrefix(name, "sandbox") { // the stores of the host have such a type, and it is no part of the SDK
			assert.Empty(t, internals(lines, hidden), name)
		}
	}
}

func TestUnsoundNamesAreFound(t *testing.T) {
	assert.Equal(t, []string{"ContractTypeMsa", "Cvv", "UsdcBalance", "PriorityMethodSwiftEur", "DocumentIds", "Url"},
		mixed([]string{
			"const ContractTypeMsa ContractType = \"msa\"", "var Cvv error", "func UsdcBalance() error",
			"type PriorityMethodSwiftEur struct", "field Update[T].DocumentIds []string", "method (*A[T]) Url() string",
			"type PriorityMethodSWIFTEUR struct", "field Url.DocumentIDs []string", "method (Url) PaidAt() time.Time",
			"type Invalid struct", "const Euros Currency = \"Url\"",
		}))
	assert.Equal(t, []string{"func Apply(to *transport.Call)", "field Option.Facts []errorbase.Facts"},
		internals([]string{"func Apply(to *transport.Call)", "func Get() http.Transport",
			"field Option.Facts []errorbase.Facts",
			"const Internal = \"transport.Call\""},
			map[string]bool{"transport": true, "errorbase": true}))
	assert.Equal(t, []string{"PageSize", "IDs"}, plainAliases([]string{"type PageSize = int", "type Amount int64",
		"type IDs = []string", "type Decimal = decimal.Decimal", "type Nullable = nullable.Nullable[T]"}))
}

// mixed returns the names with initialisms that are not all capitals.
func mixed(lines []string) (names []string) {
	for _, line := range lines {
		if name := declaredName.FindStringSubmatch(line); name != nil && mixedCase.MatchString(name[1]) {
			names = append(names, name[1])
		}
	}
	return names
}

func plainAliases(lines []string) (names []string) {
	for _, line := range lines {
		if found := alias.FindStringSubmatch(line); found != nil && !namedType.MatchString(found[2]) {
			names = append(names, found[1])
		}
	}
	return names
}

// internals returns the lines that name a type of a hidden package.
func internals(lines []string, hidden map[string]bool) (found []string) {
	for _, line := range lines {
		for _, of := range ofPackage.FindAllStringSubmatch(quoted.ReplaceAllString(line, ""), -1) {
			if hidden[of[1]] {
				found = append(found, line)
			}
		}
	}
	return found
}
