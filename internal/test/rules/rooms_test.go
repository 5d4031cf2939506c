package rules_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// designPage has the table of the rooms, from the ground up.
const designPage = "docs/design.md"

// roomRow is a row of that table: the folders of one floor, of which `x/...` is a whole tree.
var (
	roomRow  = regexp.MustCompile(`(?m)^\| ((?:` + "`" + `[a-z./0-9]+` + "`" + `(?:, )?)+) \|`)
	roomName = regexp.MustCompile("`([a-z./0-9]+)`")
)

// floors are the rooms of each row.
type floors [][]string

// floorsOf reads the table of the rooms.
func floorsOf(page []byte) (rows floors) {
	for _, row := range roomRow.FindAllSubmatch(page, -1) {
		var rooms []string
		for _, name := range roomName.FindAllSubmatch(row[1], -1) {
			rooms = append(rooms, string(name[1]))
		}
		rows = append(rows, rooms)
	}
	return rows
}

// roomOf returns the room that a folder belongs to, and its floor: the folder itself, or the nearest tree around it.
func (f floors) roomOf(folder string) (room string, floor int) {
	for floor, rooms := range f {
		if slices.Contains(rooms, folder) {
			return folder, floor
		}
	}
	for around := folder; around != "."; around = path.Dir(around) {
		for floor, rooms := range f {
			if slices.Contains(rooms, around+"/...") {
				return around + "/...", floor
			}
		}
	}
	return "", -1
}

// wrong returns where a tree differs from the table: a folder without a room, a room without a folder, and an import of
// a room on the same floor or above. Tests import what they like.
func (f floors) wrong(t *testing.T, tree fs.FS) (found []string) {
	t.Helper()
	used := map[string]bool{}
	note := func(problem string) {
		if !slices.Contains(found, problem) {
			found = append(found, problem)
		}
	}
	eachFile(t, tree, func(name string, content []byte) {
		if path.Ext(name) != ".go" {
			return
		}
		room, floor := f.roomOf(path.Dir(name))
		if room == "" {
			note(path.Dir(name) + " has no room in " + designPage)
			return
		}
		used[room] = true
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			below, own := strings.CutPrefix(imported+"/", module+"/")
			if !own {
				continue
			}
			if other, its := f.roomOf(path.Clean("./" + below)); other != room && its >= floor {
				note(room + " imports " + other + ", which is not below it")
			}
		}
	})
	for _, rooms := range f {
		for _, room := range rooms {
			if !used[room] {
				note(room + " is in " + designPage + " and has no Go file")
			}
		}
	}
	return found
}

// A person finds her way by the table of the rooms, so it is true: each folder with Go code has a room, and a room
// imports only rooms of the floors below it.
func TestTheRoomsOfTheDesignAreThere(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, designPage))
	require.NoError(t, err)
	rows := floorsOf(page)
	require.Greater(t, len(rows), 10)
	assert.Empty(t, rows.wrong(t, os.DirFS(root)))
}

func TestWrongRoomsAreFound(t *testing.T) {
	rows := floorsOf([]byte("| Room |\n|---|\n| `ground`, `cellar` | a |\n| `.` | b |\n| `tests/...` | c |\n"))
	assert.Equal(t, floors{{"ground", "cellar"}, {"."}, {"tests/..."}}, rows)
	importing := func(folder string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package p\n\nimport _ \"" + path.Join(module, folder) + "\"\n")}
	}
	sound := fstest.MapFS{
		"ground/a.go": {Data: []byte("package p\n\nimport _ \"fmt\"\n")},
		"cellar/a.go": {Data: []byte("package p\n")}, "a.go": importing("ground"),
		"tests/deep/a.go": importing("."), "tests/a.go": importing("tests/deep"),
		"ground/a_test.go": importing("tests"),
	}
	assert.Empty(t, rows.wrong(t, sound))
	for want, change := range map[string]func(fstest.MapFS){
		"attic has no room in docs/design.md": func(m fstest.MapFS) {
			m["attic/a.go"] = importing("ground")
		},
		"ground imports ., which is not below it": func(m fstest.MapFS) {
			m["ground/a.go"] = importing(".")
		},
		"ground imports cellar, which is not below it": func(m fstest.MapFS) {
			m["ground/a.go"] = importing("cellar")
		},
		". imports tests/..., which is not below it": func(m fstest.MapFS) {
			m["a.go"] = importing("tests/deep")
		},
		"cellar is in docs/design.md and has no Go file": func(m fstest.MapFS) {
			delete(m, "cellar/a.go")
		},
		"tests/... is in docs/design.md and has no Go file": func(m fstest.MapFS) {
			delete(m, "tests/a.go")
			delete(m, "tests/deep/a.go")
		},
	} {
		tree := fstest.MapFS{}
		for name, file := range sound {
			tree[name] = file
		}
		change(tree)
		assert.Equal(t, []string{want}, rows.wrong(t, tree))
	}
}
