package main

import (
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

var methods = []string{"get", "put", "post", "patch", "delete"}

// place is the way from the root of a file to a node, in the words of a reader instead of a JSON pointer:
// `CreatePayout ?limit`, `Payout.status`, `slugs.rate_limited.moved`.
type place struct {
	root *yaml.Node
	path []step
}

type step struct {
	key   string
	node  *yaml.Node // the entry of a list
	index int
}

func (p place) member(key string) place { return p.with(step{key: key}) }

func (p place) entry(index int, node *yaml.Node) place { return p.with(step{node: node, index: index}) }

func (p place) with(s step) place {
	return place{root: p.root, path: append(p.path[:len(p.path):len(p.path)], s)}
}

func (p place) String() string {
	switch {
	case len(p.path) == 0:
		return "the file"
	case len(p.path) >= 3 && p.path[0].key == "paths":
		method, path := p.path[2].key, p.path[1].key
		name := strings.ToUpper(method) + " " + path
		if id := member(member(member(member(p.root, "paths"), path), method), "operationId"); id != nil {
			name = id.Value
		}
		return join(name, p.path[3:])
	case len(p.path) >= 3 && p.path[0].key == "components":
		if p.path[1].key == "schemas" {
			return join(p.path[2].key, p.path[3:])
		}
		return join(strings.TrimSuffix(p.path[1].key, "s")+" "+p.path[2].key, p.path[3:])
	default:
		return strings.TrimPrefix(join("", p.path), ".")
	}
}

// join appends the steps inside an operation or a component to its name.
func join(name string, steps []step) string {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		switch {
		case s.node != nil:
			b.WriteString(entryName(s))
		case s.key == "parameters" || s.key == "properties" && i+1 < len(steps): // the next step names it
		case s.key == "responses" && i+1 < len(steps):
			i++
			b.WriteString(" answer " + steps[i].key)
		case s.key == "items":
			b.WriteString("[]")
		default:
			b.WriteString("." + s.key)
		}
	}
	return b.String()
}

// entryName names an entry of a list by what identifies it, and by its index where nothing does.
func entryName(s step) string {
	if in, name := member(s.node, "in"), member(s.node, "name"); in != nil && name != nil {
		switch in.Value {
		case "query":
			return " ?" + name.Value
		case "path":
			return " {" + name.Value + "}"
		default:
			return " " + in.Value + " " + name.Value
		}
	}
	for _, key := range []string{"slug", "method", "name", "currency", "factor"} {
		if id := member(s.node, key); id != nil && id.Kind == yaml.ScalarNode {
			return "." + id.Value
		}
	}
	return fmt.Sprintf("[%d]", s.index)
}

// members iterates over the keys and values of a mapping in the order of the file; other nodes have none.
func members(node *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i].Value, node.Content[i+1]) {
				return
			}
		}
	}
}

func member(node *yaml.Node, key string) *yaml.Node {
	for k, value := range members(node) {
		if k == key {
			return value
		}
	}
	return nil
}
