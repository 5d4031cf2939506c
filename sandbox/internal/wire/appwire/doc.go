// Package appwire holds the host's own models of the app API and the server interface that its state machines
// implement, both generated from openapi/appapi.yaml.
package appwire

//go:generate ../../../../internal/tools/run oapi-codegen -config ../../../../internal/tools/codegen/oapi/sandbox-appapi.yaml ../../../../openapi/appapi.yaml
//go:generate ../../../../internal/tools/run readable -aliases .
