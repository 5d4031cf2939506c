package rules_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path of the root module. Those of the others of this repository begin with it.
const module = "github.com/moneymovement/moneymovement-go"

// node is one package of the import graph, without its tests.
type node struct {
	path    string
	module  string // "" for the standard library; the root module's for all modules of this repository
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

// load asks the go command for the real graph: of all modules that are worked on together.
func load(t *testing.T) graph {
	t.Helper()
	const format = `{{.ImportPath}}|{{with .Module}}{{.Path}}{{end}}|{{join .Imports " "}}`
	list := exec.CommandContext(t.Context(), "go", "list", "-buildvcs=false", "-deps", "-f", format)
	for _, m := range modules(t) {
		if m.kind == "released" || m.kind == "workspace" {
			list.Args = append(list.Args, "./"+m.folder+"/...")
		}
	}
	list.Dir = root
	// what the module promises to build without, also where cgo is at hand
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, "go list: %s", &stderr)

	g := graph{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		require.Len(t, fields, 3, "line of go list: %q", line)
		of := fields[1]
		if of == module || strings.HasPrefix(of, module+"/") {
			of = module
		}
		g[fields[0]] = node{path: fields[0], module: of, imports: strings.Fields(fields[2])}
	}
	return g
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
