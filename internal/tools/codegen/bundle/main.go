// Command bundle writes the descriptions for clients in other languages: one file for each surface, which refers to no
// other file. The files of openapi/ are for the generators of this repository. They say once what many operations
// share, and have marks that mean nothing to others. A bundle says it at each operation:
//
//   - an example of each body, from package recorded and examples.jsonl;
//
//   - a response for each status, with the slugs that come with it (x-slugs, errors.yaml);
//
//   - null where it is allowed, as OpenAPI 3.0.3 wants it: the type itself is nullable, and null is in its enum.
//
//     bundle [folder of the descriptions] [folder of the bundles]
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var surfaces = []string{"dapi", "appapi", "refapi", "public"}

// kept are the marks that tell a reader something. The others are for the generators of this repository.
var kept = []string{"x-assumed", "x-assumed-values", "x-idempotency", "x-money", "x-scope", "x-sensitive", "x-slugs",
	"x-source", "x-window"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bundle: ")
	if len(os.Args) != 3 {
		log.Fatal("pass the folder of the descriptions and the folder of the bundles")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(from, to string) error {
	slugs, err := readSlugs(filepath.Join(from, "errors.yaml"))
	if err != nil {
		return err
	}
	var bundles []*bundle
	for _, surface := range surfaces {
		b, err := read(from, surface)
		if err != nil {
			return err
		}
		bundles = append(bundles, b)
	}
	found, err := readExamples()
	if err != nil {
		return err
	}
	for _, b := range bundles {
		b.addRefusals(slugs, found)
		if err := b.addExamples(found); err != nil {
			return fmt.Errorf("%s: %w", b.surface, err)
		}
		strip(b.root)
		b.prune()
		if err := b.write(to); err != nil {
			return err
		}
	}
	return nil
}

// bundle is one surface with all that it refers to.
type bundle struct {
	surface string
	base    string // of the paths
	root    *yaml.Node
	schemas *yaml.Node
	shared  *yaml.Node // the schemas of common.yaml
	taken   map[string]bool
}

func read(folder, surface string) (*bundle, error) {
	root, err := readFile(filepath.Join(folder, surface+".yaml"))
	if err != nil {
		return nil, err
	}
	common, err := readFile(filepath.Join(folder, "common.yaml"))
	if err != nil {
		return nil, err
	}
	b := &bundle{surface: surface, root: root, schemas: at(root, "components", "schemas"),
		shared: at(common, "components", "schemas"), taken: map[string]bool{}}
	_, b.base, _ = strings.Cut(at(root, "servers").Content[0].Content[1].Value, "}")
	if err := b.take(root, false); err != nil {
		return nil, fmt.Errorf("%s.yaml: %w", surface, err)
	}
	b.permitNull(root)
	return b, nil
}

func readFile(name string) (*yaml.Node, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return document.Content[0], nil
}

const toSchema = "#/components/schemas/"

// take copies the schemas of common.yaml that a tree refers to. Inside of common.yaml, a reference names no file.
func (b *bundle) take(tree *yaml.Node, inShared bool) error {
	for i, inner := range tree.Content {
		isValue := inner.Kind == yaml.ScalarNode && (tree.Kind == yaml.SequenceNode || i%2 == 1)
		file, name, isRef := strings.Cut(inner.Value, toSchema)
		if !isValue || !isRef || strings.Contains(file, " ") {
			if err := b.take(inner, inShared); err != nil {
				return err
			}
			continue
		}
		inner.Value = toSchema + name
		switch original := at(b.shared, name); {
		case !inShared && file == "", b.taken[name]:
		case original == nil:
			return fmt.Errorf("common.yaml has no schema %s", name)
		case at(b.schemas, name) != nil:
			return fmt.Errorf("a schema of common.yaml that it needs has the name of its own schema %s", name)
		default:
			b.taken[name] = true
			copied := clone(original)
			set(b.schemas, name, copied)
			if err := b.take(copied, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// permitNull replaces {allOf: [the type], nullable: true}. There, OpenAPI 3.0.3 permits null only if the type does.
func (b *bundle) permitNull(tree *yaml.Node) {
	nullable := at(tree, "nullable")
	if nullable != nil && nullable.Value == "true" {
		b.nullableItself(tree)
	}
	for i := 0; i < len(tree.Content); i++ { //nolint:intrange // permitNull adds schemas to the tree
		b.permitNull(tree.Content[i])
	}
}

func (b *bundle) nullableItself(tree *yaml.Node) {
	if all := at(tree, "allOf"); all != nil {
		_, name, _ := strings.Cut(at(all.Content[0], "$ref").Value, toSchema)
		target := at(b.schemas, name)
		if kind := at(target, "type"); kind == nil || kind.Value == "object" {
			if at(b.schemas, "Nullable"+name) == nil {
				copied := clone(target)
				set(copied, "type", text("object"))
				set(copied, "nullable", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
				set(b.schemas, "Nullable"+name, copied)
			}
			at(all.Content[0], "$ref").Value = toSchema + "Nullable" + name
			remove(tree, func(key string) bool { return key == "type" || key == "nullable" })
			return
		}
		remove(tree, func(key string) bool { return key == "allOf" })
		for i := 0; i < len(target.Content); i += 2 {
			if key := target.Content[i].Value; at(tree, key) == nil {
				set(tree, key, clone(target.Content[i+1]))
			}
		}
	}
	if values := at(tree, "enum"); values != nil && values.Content[len(values.Content)-1].Tag != "!!null" {
		values.Content = append(values.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"})
	}
}

// operations calls visit for each operation.
func (b *bundle) operations(visit func(method, path string, operation *yaml.Node)) {
	paths := at(b.root, "paths")
	for i := 0; i < len(paths.Content); i += 2 {
		item := paths.Content[i+1]
		for j := 0; j < len(item.Content); j += 2 {
			if at(item.Content[j+1], "operationId") != nil {
				visit(strings.ToUpper(item.Content[j].Value), b.base+paths.Content[i].Value, item.Content[j+1])
			}
		}
	}
}

// prune leaves out schemas and responses that nothing refers to any more.
func (b *bundle) prune() {
	for removed := true; removed; {
		used := map[string]bool{}
		b.references(b.root, used)
		removed = false
		for _, kind := range []string{"responses", "schemas"} {
			remove(at(b.root, "components", kind), func(name string) bool {
				unused := !used["#/components/"+kind+"/"+name]
				removed = removed || unused
				return unused
			})
		}
	}
}

func (b *bundle) references(tree *yaml.Node, used map[string]bool) {
	if ref := at(tree, "$ref"); ref != nil {
		used[ref.Value] = true
	}
	for _, inner := range tree.Content {
		b.references(inner, used)
	}
}

// strip leaves out the marks of the generators, and the comments, which are about the marks.
func strip(tree *yaml.Node) {
	remove(tree, func(key string) bool {
		return strings.HasPrefix(key, "x-") && !slices.Contains(kept, key)
	})
	tree.HeadComment, tree.LineComment, tree.FootComment = "", "", ""
	for _, inner := range tree.Content {
		strip(inner)
	}
}

func (b *bundle) write(folder string) error {
	var out bytes.Buffer
	source := "openapi/" + b.surface + ".yaml"
	out.WriteString("# Code generated by internal/tools/codegen/bundle from " + source + ". DO NOT EDIT.\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(b.root); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, b.surface+".yaml"), out.Bytes(), 0o644)
}

// at returns a member of a mapping, or nil.
func at(tree *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if tree = member(tree, name); tree == nil {
			return nil
		}
	}
	return tree
}

func member(tree *yaml.Node, name string) *yaml.Node {
	if tree == nil || tree.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(tree.Content); i += 2 {
		if tree.Content[i].Value == name {
			return tree.Content[i+1]
		}
	}
	return nil
}

// set replaces a member of a mapping, or adds it at the end.
func set(tree *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i < len(tree.Content); i += 2 {
		if tree.Content[i].Value == name {
			tree.Content[i+1] = value
			return
		}
	}
	tree.Content = append(tree.Content, text(name), value)
}

func remove(tree *yaml.Node, unwanted func(key string) bool) {
	if tree.Kind != yaml.MappingNode {
		return
	}
	for i := len(tree.Content) - 2; i >= 0; i -= 2 {
		if unwanted(tree.Content[i].Value) {
			tree.Content = slices.Delete(tree.Content, i, i+2)
		}
	}
}

func clone(tree *yaml.Node) *yaml.Node {
	copied := *tree
	copied.Content = nil
	for _, inner := range tree.Content {
		copied.Content = append(copied.Content, clone(inner))
	}
	return &copied
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// mapping makes a mapping without members, and single one with one member.
func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func single(name string, value *yaml.Node) *yaml.Node {
	tree := mapping()
	set(tree, name, value)
	return tree
}

// texts returns the texts of a sequence.
func texts(tree *yaml.Node) (values []string) {
	if tree != nil {
		for _, inner := range tree.Content {
			values = append(values, inner.Value)
		}
	}
	return values
}

// block writes a tree that was read from JSON in block style.
func block(tree *yaml.Node) {
	if len(tree.Content) > 0 {
		tree.Style &^= yaml.FlowStyle
	}
	for i, inner := range tree.Content {
		if tree.Kind == yaml.MappingNode && i%2 == 0 {
			inner.Style = 0
		}
		block(inner)
	}
}
