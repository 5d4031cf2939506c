package wire

import (
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Node is a place in a description file. The zero Node is a place that does not exist. All places below it do not exist
// either.
type Node struct {
	file *file
	yaml *yaml.Node
}

// file is one YAML file of the description.
type file struct {
	name        string
	root        *yaml.Node
	description *Description
}

// File returns the name of the file that n is in.
func (n Node) File() string { return n.file.name }

// Exists reports whether the description has this place.
func (n Node) Exists() bool { return n.yaml != nil }

// At returns the place below n at the given keys.
func (n Node) At(keys ...string) Node {
	for _, key := range keys {
		next := Node{}
		for name, value := range n.Members() {
			if name == key {
				next = value
				break
			}
		}
		n = next
	}
	return n
}

// Members iterates over the keys of a mapping, in the order of the file. For another node it yields nothing.
func (n Node) Members() iter.Seq2[string, Node] {
	return func(yield func(string, Node) bool) {
		if n.yaml == nil || n.yaml.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.yaml.Content); i += 2 {
			if !yield(n.yaml.Content[i].Value, Node{n.file, n.yaml.Content[i+1]}) {
				return
			}
		}
	}
}

// Entries returns the entries of a list, or nil for another node.
func (n Node) Entries() []Node {
	if n.yaml == nil || n.yaml.Kind != yaml.SequenceNode {
		return nil
	}
	entries := make([]Node, len(n.yaml.Content))
	for i, entry := range n.yaml.Content {
		entries[i] = Node{n.file, entry}
	}
	return entries
}

// Text returns a scalar as it is written, or "".
func (n Node) Text() string {
	if n.yaml == nil || n.yaml.Kind != yaml.ScalarNode {
		return ""
	}
	return n.yaml.Value
}

// Texts returns the scalars of a list.
func (n Node) Texts() []string {
	var texts []string
	for _, entry := range n.Entries() {
		texts = append(texts, entry.Text())
	}
	return texts
}

// True reports whether n is the scalar true.
func (n Node) True() bool { return n.Text() == "true" }

// Int returns a whole number, and whether n is one.
func (n Node) Int() (int, bool) {
	number, err := strconv.Atoi(n.Text())
	return number, err == nil
}

// Assumed reports a place that is assumed as a whole.
func (n Node) Assumed() bool {
	return slices.ContainsFunc(n.Marks(), func(a *Assumption) bool { return a.Aspect == "" })
}

// Marks returns the assumptions at this place itself.
func (n Node) Marks() []*Assumption {
	if n.yaml == nil {
		return nil
	}
	return n.file.description.marks[n.yaml]
}

// Target follows a reference. For another node it returns the node itself.
func (n Node) Target() Node {
	reference := n.At("$ref").Text()
	if reference == "" {
		return n
	}
	name, pointer, _ := strings.Cut(reference, "#/")
	target := Node{file: n.file}
	if name != "" {
		target.file = n.file.description.files[path.Base(name)]
	}
	if target.file == nil {
		return Node{}
	}
	target.yaml = target.file.root
	return target.At(strings.Split(pointer, "/")...).Target()
}

// Layers returns the schemas that a value at n must fit, the outermost first: n itself, the schema that it refers to,
// and the parts of its allOf.
func (n Node) Layers() []Node {
	if !n.Exists() {
		return nil
	}
	layers := []Node{n}
	if target := n.Target(); target.yaml != n.yaml {
		return append(layers, target.Layers()...)
	}
	for _, part := range n.At("allOf").Entries() {
		layers = append(layers, part.Layers()...)
	}
	return layers
}

// Property returns the schema of a member among layers, and whether there is one.
func Property(layers []Node, name string) (Node, bool) {
	for _, layer := range layers {
		if property := layer.At("properties", name); property.Exists() {
			return property, true
		}
	}
	return Node{}, false
}

// Required reports whether one of the layers requires a member.
func Required(layers []Node, name string) bool {
	return slices.ContainsFunc(layers, func(layer Node) bool {
		return slices.Contains(layer.At("required").Texts(), name)
	})
}
