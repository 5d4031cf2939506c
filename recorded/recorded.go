// Package recorded returns responses of the sandbox host, for the fakes in your tests. There is one response for each
// operation of packages dapi, appapi, refapi and public. Your tests do not need the host.
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

// Operations returns the names of all operations, sorted. A name has the package, and the operation as in the errors
// and logs of the SDK, such as "dapi.GetPayout" or "public.GetRate".
func Operations() []string {
	index, err := recorded.Operations()
	if err != nil {
		panic(err) // the index is a part of this package
	}
	return slices.Sorted(maps.Keys(index))
}

// Response returns the recorded response to a successful call of an operation, with its status, header and body. now is
// the time at which the response seems to be sent: at that time, a price is fresh and a session has just begun.
// Response returns an error for an unknown operation.
func Response(operation string, now time.Time) (*http.Response, error) {
	return recorded.ResponseTo(operation, now)
}

// Body returns the body of [Response]. It is JSON. For an operation that returns nothing it is empty, and for a PDF it
// has only the first line.
func Body(operation string, now time.Time) ([]byte, error) {
	response, err := Response(operation, now)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
