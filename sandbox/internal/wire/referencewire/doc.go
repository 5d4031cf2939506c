// Package referencewire holds the host's own models of the reference endpoints and the server interface that its
// state machines implement, both generated from openapi/refapi.yaml.
package referencewire

//go:generate ../../../../internal/tools/run oapi-codegen -config ../../../../internal/tools/codegen/oapi/sandbox-refapi.yaml ../../../../openapi/refapi.yaml
//go:generate ../../../../internal/tools/run readable -aliases .
