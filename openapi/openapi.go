// Package openapi holds the description of the wire: one OpenAPI 3.0.3 file a surface, the schemas that surfaces share,
// the error catalogue and the coverage catalogue. Models, clients, validation and the sandbox host are generated from
// it.
//
// What the service description states is written plainly. What it leaves open and a client cannot work without carries
// x-assumed with the reason; README.md lists every such mark, so that correcting one is one edit here and one
// regeneration.
//
// The folder bundled has the same descriptions for clients in other languages: one file for each surface, with examples
// and with a response for each status. It is generated from these files and from the recorded exchanges.
package openapi

import "embed"

//go:generate ../internal/tools/run bundle . bundled

// Files holds the YAML files of this folder by name: the surfaces dapi.yaml, appapi.yaml, refapi.yaml and public.yaml,
// common.yaml with the schemas that they share, errors.yaml with the slugs and coverage.yaml with the bank
// methods and currencies. References between files are relative: common.yaml#/components/schemas/Invoice.
//
//go:embed *.yaml
var Files embed.FS
