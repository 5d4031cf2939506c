package rules_test

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// module is the path of the root module. Those of the others of this repository begin with it.
const module = "github.com/moneymovement/moneymovement-go"

// node is one package of the import graph, without its tests.
type node struct {
	path    string
	module  string // "" for the standard library; the root module's for all modules of this repository
	folder  string // of the module, if the go command was asked
	imports []string
}

// graph holds packages by import path.
type graph map[string]node

// own lists the packages of this repository's modules, sorted.
func (g graph) own() []node {
	var own []node
	for _, path := range slices.Sorted(maps.Keys(g)) {
		if n := g[path]; n.module == module {
			own = append(own, n)
		}
	}
	return own
}

// chain returns the shortest way along the imports from one package to any that matches, both included, or nil.
func (g graph) chain(from string, match func(node) bool) []string {
	cameFrom := map[string]string{from: ""}
	queue := []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if match(g[at]) {
			var way []string
			for ; at != ""; at = cameFrom[at] {
				way = append(way, short(at))
			}
			slices.Reverse(way)
			return way
		}
		for _, next := range g[at].imports {
			if _, seen := cameFrom[next]; !seen {
				cameFrom[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// modules lists the third-party modules that a package takes on, sorted.
func (g graph) modules(from string) []string {
	found := map[string]bool{}
	g.chain(from, func(n node) bool {
		if n.module != "" && n.module != module {
			found[n.module] = true
		}
		return false
	})
	return slices.Sorted(maps.Keys(found))
}

// short is an import path as the rules write it: inside this module relative to its root, which is ".".
func short(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// load returns the real graph, as the go command knows it: of all modules that are worked on together, with what they
// link of others. All tests share it.
func load(t *testing.T) graph {
	t.Helper()
	tier.Long(t, "starts the go command")
	g, err := loaded()
	require.NoError(t, err)
	return g
}

var loaded = sync.OnceValues(func() (graph, error) {
	folders, err := together()
	if err != nil {
		return nil, err
	}
	const format = `{{.ImportPath}}|{{with .Module}}{{.Path}}|{{.Dir}}{{else}}|{{end}}|{{join .Imports " "}}`
	g := graph{}
	return g, goList(append([]string{"-f", format}, folders...), func(fields []string) {
		g[fields[0]] = node{path: fields[0], module: ours(fields[1]), folder: fields[2],
			imports: strings.Fields(fields[3])}
	})
})

// goList runs `go list -deps`, and hands over the four fields of each line.
func goList(args []string, each func(fields []string)) error {
	list := exec.CommandContext(context.Background(), "go",
		append([]string{"list", "-buildvcs=false", "-deps"}, args...)...)
	list.Dir = root
	// what the module promises to build without, also where cgo is at hand
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 {
			return fmt.Errorf("line of go list: %q", line)
		}
		each(fields)
	}
	return nil
}

// together returns the patterns of the packages of the modules that are worked on together.
func together() (patterns []string, err error) {
	all, err := modules()
	for _, m := range all {
		if m.kind == "released" || m.kind == "workspace" {
			patterns = append(patterns, "./"+m.folder+"/...")
		}
	}
	return patterns, err
}

// ours returns the root module for each module of this repository, and every other module as it is.
func ours(of string) string {
	if of == module || strings.HasPrefix(of, module+"/") {
		return module
	}
	return of
}

// read returns the graph that the imports of the sources and the go.mod files make. It knows of another module what is
// imported here, and not what that imports.
func read(t *testing.T) graph {
	t.Helper()
	g := graph{}
	patterns, err := together()
	require.NoError(t, err)
	var required []string
	building := build.Default
	building.CgoEnabled = false
	for _, pattern := range patterns {
		folder := filepath.Join(root, strings.TrimSuffix(pattern, "/..."))
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		require.NoError(t, err)
		for _, found := range requirement.FindAllSubmatch(content, -1) {
			required = append(required, string(found[1]))
		}
		require.NoError(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			_, own := os.Stat(filepath.Join(name, "go.mod"))
			if name != folder && (own == nil || skipped(entry.Name())) { // a module of its own
				return fs.SkipDir
			}
			pkg, err := building.ImportDir(name, 0)
			if _, none := errors.AsType[*build.NoGoError](err); none {
				return nil
			}
			inTree, _ := filepath.Rel(root, name)
			path := strings.TrimSuffix(module+"/"+filepath.ToSlash(inTree), "/.")
			g[path] = node{path: path, module: module, imports: pkg.Imports}
			return err
		}))
	}
	for _, n := range g.own() {
		for _, path := range n.imports {
			if _, known := g[path]; !known {
				g[path] = node{path: path, module: ours(longest(required, path))}
			}
		}
	}
	return g
}

// requirement is a line of a go.mod.
var requirement = regexp.MustCompile(`(?m)^(?:require|\t) ?(\S+\.\S+) v\S+`)

// longest returns the module that a package is of, or "" for the standard library.
func longest(required []string, path string) (of string) {
	for _, candidate := range required {
		if len(candidate) > len(of) && (path == candidate || strings.HasPrefix(path, candidate+"/")) {
			of = candidate
		}
	}
	return of
}

// made builds a graph out of lines such as "dapi: errors time github.com/google/uuid". A name on the left belongs to
// this module, and so does a name on the right that also stands on a left. "." is the module's root.
func made(lines ...string) graph {
	own := map[string][]string{}
	for _, line := range lines {
		name, imports, _ := strings.Cut(line, ":")
		own[name] = strings.Fields(imports)
	}
	full := func(name string) string {
		switch _, ours := own[name]; {
		case name == ".":
			return module
		case ours:
			return module + "/" + name
		default:
			return name
		}
	}
	g := graph{}
	for name, imports := range own {
		n := node{path: full(name), module: module}
		for _, imported := range imports {
			path := full(imported)
			n.imports = append(n.imports, path)
			if _, ours := own[imported]; !ours {
				g[path] = node{path: path, module: moduleOf(path)}
			}
		}
		g[n.path] = n
	}
	return g
}

// moduleOf guesses: host/owner/name, which is right for the modules that the made-up graphs mention.
func moduleOf(path string) string {
	parts := strings.SplitN(path, "/", 4)
	if !strings.Contains(parts[0], ".") || len(parts) < 3 {
		return ""
	}
	return fmt.Sprintf("%s/%s/%s", parts[0], parts[1], parts[2])
}
