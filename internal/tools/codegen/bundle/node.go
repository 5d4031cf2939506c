package main

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

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
