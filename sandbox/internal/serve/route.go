// Package serve is what the generated servers of the host's surfaces are made of: an operation is given what the gate has
// read of a request, and returns status, headers and body.
package serve

import "context"

// Route is one operation of a server.
type Route struct {
	Method, Path string // as the description writes them
	Run          func(context.Context, *Request) (Answer, error)
}
