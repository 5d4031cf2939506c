// Package wire reads the description of the wire, for the suites and for `moneymove check`: its operations, its schemas
// as they are written, and every assumption with its place. It reads the YAML itself, because generated models do not
// have the marks (x-assumed).
package wire

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Surfaces are the files that describe operations, in reading order.
var surfaces = []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml"}

// readingOrder has the surfaces first, then the shared file, then the catalogues.
var readingOrder = append(slices.Clone(surfaces), "common.yaml", "errors.yaml", "coverage.yaml")

// Description is the wire as the YAML files describe it. It is read-only, and safe for concurrent use.
type Description struct {
	// Files are the roots of the files, in reading order.
	Files []Node
	// Operations are the operations of every surface, in reading order.
	Operations []*Operation
	// Assumptions are all marks, in reading order.
	Assumptions []*Assumption

	files map[string]*file
	marks map[*yaml.Node][]*Assumption
	match []*Operation // fewest placeholders first
}

// Operation is one operation of a surface.
type Operation struct {
	Surface  string // file, such as appapi.yaml
	ID       string // operationId; several surfaces may have the same
	Method   string
	Template string // path with the surface's base path, such as /dapi/v1/payouts/{payoutId}
	Node     Node   // the operation
	Root     Node   // its file

	pathItem Node
	steps    []string
}

// Name is unique among the operations of all surfaces: "appapi GetInvoice".
func (o *Operation) Name() string { return strings.TrimSuffix(o.Surface, ".yaml") + " " + o.ID }

// Read reads the description from the YAML files of package openapi, or from other files with the same names. A mark
// without a reason is an error.
func Read(files fs.FS) (*Description, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	d := &Description{files: map[string]*file{}, marks: map[*yaml.Node][]*Assumption{}}
	for _, name := range inReadingOrder(names) {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		var document yaml.Node
		if err := yaml.Unmarshal(source, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(document.Content) == 0 {
			return nil, fmt.Errorf("%s is empty", name)
		}
		d.files[name] = &file{name: name, root: document.Content[0], description: d}
		root := Node{d.files[name], document.Content[0]}
		d.Files = append(d.Files, root)
		if err := d.collect(place{root: root}, root); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if slices.Contains(surfaces, name) {
			d.addOperations(root)
		}
	}
	d.match = slices.Clone(d.Operations)
	slices.SortStableFunc(d.match, func(a, b *Operation) int { return cmp.Compare(a.placeholders(), b.placeholders()) })
	return d, nil
}

// inReadingOrder sorts names. Unknown names come last.
func inReadingOrder(names []string) []string {
	rank := func(name string) int {
		if i := slices.Index(readingOrder, name); i >= 0 {
			return i
		}
		return len(readingOrder)
	}
	sorted := slices.Sorted(slices.Values(names))
	slices.SortStableFunc(sorted, func(a, b string) int { return rank(a) - rank(b) })
	return sorted
}

// Methods are the keys of a path item's operations.
var Methods = []string{"get", "put", "post", "patch", "delete"}

func (d *Description) addOperations(root Node) {
	base := ""
	if servers := root.At("servers").Entries(); len(servers) > 0 {
		base = strings.TrimPrefix(servers[0].At("url").Text(), "{base_url}")
	}
	for path, item := range root.At("paths").Members() {
		for method, node := range item.Members() {
			if !slices.Contains(Methods, method) {
				continue
			}
			d.Operations = append(d.Operations, &Operation{
				Surface: root.file.name, ID: node.At("operationId").Text(), Method: strings.ToUpper(method),
				Template: base + path,
				Node:     node, Root: root, pathItem: item, steps: strings.Split(base+path, "/"),
			})
		}
	}
}

// Find returns the operation of a request, or nil. A literal segment of a path wins over a placeholder.
func (d *Description) Find(method, path string) *Operation {
	steps := strings.Split(path, "/")
	for _, o := range d.match {
		if o.Method == method && o.matches(steps) {
			return o
		}
	}
	return nil
}

func (o *Operation) matches(steps []string) bool {
	return slices.EqualFunc(o.steps, steps, func(described, step string) bool {
		return described == step || placeholder(described) && step != ""
	})
}

func placeholder(step string) bool {
	return strings.HasPrefix(step, "{") && strings.HasSuffix(step, "}")
}

func (o *Operation) placeholders() (count int) {
	for _, step := range o.steps {
		if placeholder(step) {
			count++
		}
	}
	return count
}

// PathValues returns the values of the placeholders in a request's path.
func (o *Operation) PathValues(path string) map[string]string {
	values := map[string]string{}
	for i, step := range strings.Split(path, "/") {
		if i < len(o.steps) && placeholder(o.steps[i]) {
			values[strings.Trim(o.steps[i], "{}")] = step
		}
	}
	return values
}

// Parameters returns the parameters of the operation and of its path, with their references followed.
func (o *Operation) Parameters() []Node {
	var parameters []Node
	for _, at := range []Node{o.pathItem, o.Node} {
		for _, parameter := range at.At("parameters").Entries() {
			parameters = append(parameters, parameter.Target())
		}
	}
	return parameters
}

// Body returns the schema of the request's JSON body. It does not exist if no body is described.
func (o *Operation) Body() Node {
	return o.Node.At("requestBody").Target().At("content", "application/json", "schema")
}

// Response returns the described response of a status, or else the default response.
func (o *Operation) Response(status int) (response Node, exact bool) {
	if response = o.Node.At("responses", fmt.Sprint(status)); response.Exists() {
		return response, true
	}
	return o.Node.At("responses", "default"), false
}

// Slugs returns the slugs that the operation or its surface lists.
func (o *Operation) Slugs() []string {
	return append(o.Node.At("x-slugs").Texts(), o.Root.At("x-slugs").Texts()...)
}
