package main

import (
	"net/url"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// surface is a part of the service with a description of its own.
type surface struct {
	name string // of its file
	// open says that its file leaves it open which names the bodies of requests have.
	open bool
}

var surfaces = []surface{{name: "dapi"}, {name: "appapi", open: true}, {name: "refapi", open: true}, {name: "public"}}

// read reads the description of a surface with the files that it refers to, and adjusts it.
func (s surface) read() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(location.Path)
	}
	document, err := loader.LoadFromURI(&url.URL{Path: s.name + ".yaml"})
	if err != nil {
		return nil, err
	}
	if s.open {
		refuseUnknownNames(document)
	}
	return document, nil
}
