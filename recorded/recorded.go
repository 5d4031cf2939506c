// Package recorded returns responses of the sandbox host, for the fakes in your tests. There is one for each operation
// of packages dapi, appapi, refapi and public. They were recorded from the host, so your tests do not need it.
//
// Use it where a fake must return what the service returns: in an http.RoundTripper ([Response]), or in a type that
// stands in for a service of the SDK ([Body]). To test what happens to money, run the sandbox host instead: a recorded
// response does not depend on the request.
//
// The ids in a response are short names such as po_1, and all its times are relative to the time that you pass. A new
// version of the SDK can have other values in its responses, so a test should not compare them.
package recorded

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// Operations returns the names of all operations, sorted. A name is the package and the operation that errors and logs
// of the SDK name, such as "dapi.GetPayout" or "public.GetRate".
func Operations() []string {
	index, err := recorded.Operations()
	if err != nil {
		panic(err) // the index is a part of this package
	}
	return slices.Sorted(maps.Keys(index))
}

// Response returns a response that carried out an operation, with its status, header and body. now is the time at which
// the service sends it: a price in it is fresh then, and a session has just begun. An unknown operation is an error.
func Response(operation string, now time.Time) (*http.Response, error) {
	return recorded.ResponseTo(operation, now)
}

// Body returns the body of [Response]. It is JSON, except that it is empty for an operation that returns nothing, and
// only the first line for a PDF.
func Body(operation string, now time.Time) ([]byte, error) {
	response, err := Response(operation, now)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
