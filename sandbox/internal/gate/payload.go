package gate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// maxDrained is how much of a larger body is read nevertheless, so that its
// sender gets the response instead of a connection that breaks while it sends.
const maxDrained = 16 << 20

// payload is the body of a request, which is read once it is known that it is
// wanted: a caller without credentials has nothing of it read.
type payload struct {
	request *http.Request
	limit   int64

	wasRead bool
	bytes   []byte
	refused error
}

// read returns the whole body, within bounds.
func (p *payload) read() ([]byte, error) {
	if !p.wasRead {
		p.wasRead = true
		p.bytes, p.refused = bodyOf(p.request, p.limit)
	}
	return p.bytes, p.refused
}

// farewell is how long what is left of a body is thrown away after its request
// was refused, for the same reason.
const farewell = 500 * time.Millisecond

// precede lets the response to a request whose body was not read leave before the
// rest of it has arrived: net/http waits for that otherwise. After the response,
// call rest if it says so.
func (p *payload) precede(w http.ResponseWriter) (left bool) {
	r := p.request
	if p.wasRead || r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return false // net/http does the right thing of itself
	}
	return http.NewResponseController(w).EnableFullDuplex() == nil // fails without a connection
}

// rest sends the response, and discards what follows of the body for a moment.
// The connection is closed if that was not all.
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
		return nil, refuse.InvalidRequest("The body did not arrive in time.")
	case err != nil:
		return nil, refuse.InvalidRequest("The body cannot be read.")
	case int64(len(body)) > limit:
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // what is left after that is refused by breaking off
		return nil, refuse.PayloadTooLarge()
	default:
		return body, nil
	}
}
