// Package referencewire holds the host's own models of the reference endpoints and the server interface that its
// state machines implement, both generated from openapi/refapi.yaml.
package referencewire

//go:generate go tool -modfile=../../../../internal/tools/go.mod oapi-codegen -config ../../../../internal/codegen/oapi/sandbox-refapi.yaml ../../../../openapi/refapi.yaml
