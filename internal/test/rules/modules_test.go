package rules_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// moduleLine is a line of .ci/modules: a module's folder, how it is worked on, and the first make target that runs its
// tests.
var moduleLine = regexp.MustCompile(
	`^(\S+) +(?:(released|workspace) +(?:test|check|soak)|alone +(?:test|check|soak))\n$`)

// A module that is not listed is not built, linted or tested, for ./... ends where a module begins.
func TestEveryModuleIsListed(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(root, ".ci/modules"))
	require.NoError(t, err)
	var listed, together []string
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := moduleLine.FindStringSubmatch(line)
		require.NotNil(t, fields, "of no known kind, or without what runs its tests: %s", line)
		listed = append(listed, fields[1])
		if fields[2] != "" {
			together = append(together, fields[1])
		}
	}
	var found []string
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && skipped(entry.Name()) {
			return fs.SkipDir
		}
		if err == nil && entry.Name() == "go.mod" {
			found = append(found, path.Dir(name))
		}
		return err
	}))
	assert.ElementsMatch(t, found, listed, ".ci/modules lists other modules than there are")

	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	require.NoError(t, err)
	var used []string
	for _, use := range regexp.MustCompile(`(?m)^\t\.(?:/(\S+))?$`).FindAllStringSubmatch(string(work), -1) {
		used = append(used, path.Clean(use[1]))
	}
	assert.ElementsMatch(t, together, used, "go.work uses other modules than those that are worked on together")
}

// parts are what NOTICE says who links which modules of, in its order.
var parts = []struct {
	name    string
	folders []string
}{
	{"SDK", shownPackages}, {"wallet", []string{"signing/wallet"}}, {"sandbox", []string{"sandbox"}},
	{"bolt", []string{"sandbox/bolt"}}, {"moneymove", []string{"cmd/moneymove"}}, {"redis", []string{"fleet/redis"}},
	{"postgres", []string{"payments/postgres/fleetpostgres"}}, {"river", []string{"payments/postgres"}},
	{"sqlite", []string{"payments/sqlite"}}, {"otel", []string{"otel"}},
}

// licences are known by what only their texts say.
var licences = []struct {
	name string
	text *regexp.Regexp
}{
	{"LGPL-3.0", regexp.MustCompile(`GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"MIT and Apache-2.0", regexp.MustCompile(`two different licenses: MIT and Apache`)},
	{"Apache-2.0", regexp.MustCompile(`Apache License,?\s+Version 2\.0`)},
	{"MIT and BSD-3-Clause", regexp.MustCompile(`Permission is hereby granted, free of charge(?s:.*)Neither the name`)},
	{"ISC", regexp.MustCompile(`ISC License`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms(?s:.*)Neither the name`)},
	{"BSD-3-Clause", regexp.MustCompile(`BSD 3-Clause License`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
}

// row is one of NOTICE's: a module, its licence, and the parts that link it.
var row = regexp.MustCompile(`(?m)^(\S+\.\S+/\S+) {2,}(\S+(?: and \S+)?) {2,}([a-zA-Z ,]+)$`)

// NOTICE lists every module that something here links, and the licence that comes with it; and nothing else. So a
// module that the SDK takes on, also through another one, is a change of NOTICE.
func TestNoticeListsEveryLinkedModule(t *testing.T) {
	testkit.Long(t, "starts the go command")
	linkedBy, folders := map[string]string{}, map[string]string{}
	for _, part := range parts {
		lines, err := goList(part.folders, "-f", `{{with .Module}}{{.Path}}|{{.Dir}}{{end}}`)
		require.NoError(t, err)
		slices.Sort(lines)
		for _, line := range slices.Compact(lines) {
			of, folder, _ := strings.Cut(line, "|")
			if of != "" && of != module && !strings.HasPrefix(of, module+"/") {
				linkedBy[of], folders[of] = strings.TrimPrefix(linkedBy[of]+", "+part.name, ", "), folder
			}
		}
	}
	notice, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	require.NoError(t, err)
	listed := map[string]string{}
	for _, r := range row.FindAllStringSubmatch(string(notice), -1) {
		listed[r[1]] = r[3]
		assert.Equal(t, licenceOf(folders[r[1]]), r[2], r[1])
	}
	assert.Equal(t, linkedBy, listed)
}

// licenceOf reads what lies in the module's folder.
func licenceOf(folder string) string {
	for _, file := range []string{"COPYING.LESSER", "LICENSE", "LICENSE.txt", "COPYING"} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			continue
		}
		for _, l := range licences {
			if l.text.Match(text) {
				return l.name
			}
		}
	}
	return "unknown"
}
