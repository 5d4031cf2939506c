// Package publicwire holds the host's own models of the public utilities and the server interface that its state
// machines implement, both generated from openapi/public.yaml.
package publicwire

//go:generate ../../../../internal/tools/run oapi-codegen -config ../../../../internal/tools/codegen/oapi/sandbox-public.yaml ../../../../openapi/public.yaml
//go:generate ../../../../internal/tools/run readable -aliases .
