package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
)

// object is a part of a description as JSON.
type object = map[string]any

// components are the shared parts of a description, by kind and name.
type components map[string]object

// componentsOf returns the components of a description. Those of other files become its own.
func componentsOf(document *openapi3.T) (components, error) {
	document.InternalizeRefs(context.Background(), nil)
	all := components{}
	text, err := json.Marshal(document.Components)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for kind, named := range all {
		if kind == "securitySchemes" { // the host checks credentials itself
			delete(all, kind)
		}
		for _, part := range named {
			shorten(part)
		}
	}
	return all, nil
}

// use copies the components that a part refers to, and the ones that these refer to.
func (c components) use(part any, used components) {
	switch part := part.(type) {
	case string:
		reference, found := strings.CutPrefix(part, "#/components/")
		kind, name, _ := strings.Cut(reference, "/")
		if !found || used[kind][name] != nil {
			return
		}
		if used[kind] == nil {
			used[kind] = object{}
		}
		used[kind][name] = c[kind][name]
		c.use(c[kind][name], used)
	case []any:
		for _, element := range part {
			c.use(element, used)
		}
	case object:
		for _, member := range part {
			c.use(member, used)
		}
	}
}

// short returns a part of a description without the texts for readers.
func short(part any) (object, error) {
	text, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	var all object
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	shorten(all)
	return all, nil
}

// forReaders are the members that only readers of a description need.
var forReaders = []string{"title", "description", "summary", "example", "examples", "externalDocs"}

// marks are the extensions that the host reads.
var marks = []string{"x-assumed", "x-id-prefix", "x-scope", "x-stated-types", "x-window"}

// named are the members whose own members have names of the description, and not of OpenAPI.
var named = []string{"properties", "headers", "responses", "content", "mapping"}

// shorten removes what only readers need. Of an assumption it leaves the name.
func shorten(part any) {
	switch part := part.(type) {
	case []any:
		for _, element := range part {
			shorten(element)
		}
	case object:
		maps.DeleteFunc(part, func(name string, _ any) bool {
			return slices.Contains(forReaders, name) || strings.HasPrefix(name, "x-") && !slices.Contains(marks, name)
		})
		for name, member := range part {
			switch inner, _ := member.(object); {
			case name == "x-assumed":
				part[name] = withoutReason(member)
			case slices.Contains(named, name):
				for _, member := range inner {
					shorten(member)
				}
			default:
				shorten(member)
			}
		}
	}
}

// withoutReason returns an assumption without its text.
func withoutReason(assumption any) any {
	aspects, ok := assumption.(object)
	if !ok {
		return "assumed"
	}
	for name := range aspects {
		aspects[name] = "assumed"
	}
	return aspects
}
