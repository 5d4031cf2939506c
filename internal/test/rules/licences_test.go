package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parts are what NOTICE says who links which modules of: each by one of its packages that reaches all of it.
var parts = map[string][]string{
	"SDK":       {".", "dapi", "appapi", "refapi", "public", "errors", "signing"},
	"redis":     {"fleet/redis"},
	"postgres":  {"payments/postgres/fleetpostgres"},
	"river":     {"payments/postgres"},
	"sqlite":    {"payments/sqlite"},
	"otel":      {"otel"},
	"wallet":    {wallet},
	"sandbox":   {"sandbox"},
	"bolt":      {"sandbox/bolt"},
	"moneymove": {"cmd/moneymove"},
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

// NOTICE lists every module that something here links, and the licence that comes with it; and nothing else.
func TestNoticeListsEveryLinkedModule(t *testing.T) {
	g := load(t)
	linkedBy := map[string]string{}
	for _, part := range []string{"SDK", "wallet", "sandbox", "bolt", "moneymove", "redis", "postgres", "river",
		"sqlite", "otel"} {
		for _, name := range parts[part] {
			path := strings.TrimSuffix(module+"/"+name, "/.")
			require.Contains(t, g, path)
			for _, m := range g.modules(path) {
				if !strings.HasSuffix(linkedBy[m], part) {
					linkedBy[m] = strings.TrimPrefix(linkedBy[m]+", "+part, ", ")
				}
			}
		}
	}
	folders := map[string]string{}
	for _, n := range g {
		folders[n.module] = n.folder
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

// Who uses the SDK without wallets links nothing under the LGPL.
func TestOnlyTheWalletAndTheHostLinkEthereum(t *testing.T) {
	g := load(t)
	for _, name := range parts["SDK"] {
		assert.NotContains(t, g.modules(strings.TrimSuffix(module+"/"+name, "/.")), goEthereum, name)
	}
	for _, name := range []string{wallet, "sandbox", "cmd/moneymove"} {
		assert.Contains(t, g.modules(module+"/"+name), goEthereum, name)
	}
}
