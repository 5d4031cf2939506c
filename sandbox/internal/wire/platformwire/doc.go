// Package platformwire holds the host's own models of the platform API and the server interface that the state machine
// implements, both generated from openapi/dapi.yaml, and the methods of the coverage catalogue. It shares nothing with
// the SDK's models, so that a mistake in one side cannot hide in the other.
package platformwire

//go:generate ../../../../internal/tools/run oapi-codegen -config ../../../../internal/tools/codegen/oapi/sandbox-dapi.yaml ../../../../openapi/dapi.yaml
//go:generate ../../../../internal/tools/run readable -aliases .
