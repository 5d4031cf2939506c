package gate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// maxDrained is how many bytes of a body that is too large are still read, so that its sender gets the response and not
// a broken connection.
const maxDrained = 16 << 20

// payload is the body of a request. It is read only when it is needed: the body of a caller without a credential is not
// read.
type payload struct {
	request *http.Request
	limit   int64

	wasRead bool
	bytes   []byte
	refused error
}

// read returns the whole body, up to the limit.
func (p *payload) read() ([]byte, error) {
	if !p.wasRead {
		p.wasRead = true
		p.bytes, p.refused = bodyOf(p.request, p.limit)
	}
	return p.bytes, p.refused
}

// farewell is how long the rest of a refused request's body is read and discarded, for the same reason.
const farewell = 500 * time.Millisecond

// precede lets the response leave before the rest of an unread body has arrived. Otherwise net/http waits for the rest.
// If it returns true, call rest after the response.
func (p *payload) precede(w http.ResponseWriter) (left bool) {
	r := p.request
	if p.wasRead || r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return false // net/http needs no help
	}
	return http.NewResponseController(w).EnableFullDuplex() == nil // fails without a connection
}

// rest sends the response, and discards the following bytes of the body for a moment. If that is not the whole body, it
// closes the connection.
func (p *payload) rest(w http.ResponseWriter) {
	connection := http.NewResponseController(w)
	_ = connection.Flush()
	_ = connection.SetReadDeadline(time.Now().Add(farewell))
	if n, err := io.CopyN(io.Discard, p.request.Body, maxDrained); n == maxDrained || !errors.Is(err, io.EOF) {
		panic(http.ErrAbortHandler)
	}
	_ = connection.SetReadDeadline(time.Time{})
}

func bodyOf(r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, wire.InvalidRequest("The body did not arrive in time.")
	case err != nil:
		return nil, wire.InvalidRequest("The body cannot be read.")
	case int64(len(body)) > limit:
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // closing the connection refuses the rest
		return nil, wire.PayloadTooLarge()
	default:
		return body, nil
	}
}
