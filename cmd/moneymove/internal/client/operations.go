package client

import (
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
)

// Surface is a part of the service that has a credential of its own.
type Surface string

// The surfaces.
const (
	Platform  Surface = "platform API"        // the access token of a developer's session
	App       Surface = "app API"             // the app API key
	Reference Surface = "reference endpoints" // an access token of /api/v1
	Public    Surface = "public endpoints"    // no credential
)

// Keyed says what makes a repeated write the same write. Reads have the empty value.
type Keyed string

// The values of x-idempotency.
const (
	ByKey     Keyed = "key"     // the idempotency key
	ByItself  Keyed = "natural" // what it says, such as a client's email
	ByNothing Keyed = "none"    // a repeated write is another write
)

// Operation is an operation that the service's description has.
type Operation struct {
	ID      string // the operationId
	Surface Surface
	Open    bool // takes no credential, although its surface has one
	Keyed   Keyed
	// TakesKey says that Idempotency-Key may be sent, and TakesClient the same for X-Service-Account.
	TakesKey, TakesClient bool
	// Moneyless says that it moves no money, also if it is a write.
	Moneyless bool
}

// surfaces are those of the files with operations.
var surfaces = map[string]Surface{
	"dapi.yaml": Platform, "appapi.yaml": App, "refapi.yaml": Reference, "public.yaml": Public,
}

var descriptions = sync.OnceValues(func() (*wire.Description, error) { return wire.Read(openapi.Files) })

// All returns every operation.
func All() ([]Operation, error) {
	description, err := descriptions()
	if err != nil {
		return nil, err
	}
	all := make([]Operation, len(description.Operations))
	for i, o := range description.Operations {
		all[i] = operationOf(o)
	}
	return all, nil
}

// Find returns the operation of a request.
func Find(method, path string) (Operation, bool, error) {
	description, err := descriptions()
	if err != nil {
		return Operation{}, false, err
	}
	operation := description.Find(method, path)
	if operation == nil {
		return Operation{}, false, nil
	}
	return operationOf(operation), true, nil
}

func operationOf(o *wire.Operation) Operation {
	security := o.Node.At("security")
	takes := func(name string) bool {
		return slices.ContainsFunc(o.Parameters(), func(p wire.Node) bool { return p.At("name").Text() == name })
	}
	return Operation{
		ID: o.ID, Surface: surfaces[o.Surface], Keyed: Keyed(o.Node.At("x-idempotency").Text()),
		Moneyless: o.Node.At("x-money").Text() == "none", Open: security.Exists() && len(security.Entries()) == 0,
		TakesKey: takes("Idempotency-Key"), TakesClient: takes("X-Service-Account"),
	}
}

// SurfaceOf returns the surface that a path belongs to, also for an operation that is not described.
func SurfaceOf(path string) Surface {
	switch {
	case below(path, "/dapi/v1"):
		return Platform
	case below(path, "/api/v1"):
		return Reference
	case below(path, "/utils"), below(path, "/public"):
		return Public
	}
	return App
}

func below(path, base string) bool { return path == base || strings.HasPrefix(path, base+"/") }
