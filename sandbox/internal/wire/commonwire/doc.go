// Package commonwire holds the host's own models that the app API, the reference endpoints and the public utilities
// share, generated from openapi/common.yaml.
package commonwire

//go:generate ../../../../internal/tools/run oapi-codegen -config ../../../../internal/tools/codegen/oapi/sandbox-common.yaml ../../../../openapi/common.yaml
//go:generate ../../../../internal/tools/run readable -aliases .
