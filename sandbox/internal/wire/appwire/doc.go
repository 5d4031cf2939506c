// Package appwire holds the host's own models of the app API and the server interface that its state machines
// implement, both generated from openapi/appapi.yaml.
package appwire

//go:generate go tool -modfile=../../../../internal/tools/go.mod oapi-codegen -config ../../../../internal/codegen/oapi/sandbox-appapi.yaml ../../../../openapi/appapi.yaml
