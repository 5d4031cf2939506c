package transport

import (
	"context"
	"io"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

const (
	// bodyStall is how long a body may stay without a new byte.
	bodyStall = 30 * time.Second
	// bodyWhole is how long a whole body may take, even if it never stalls. It does not limit a stream: the program
	// reads that at its own pace.
	bodyWhole = time.Minute
)

var errSlowBody = errors.New("the response body takes too long")

// timedBody is a response body that fails if it takes too long. It counts the time inside Read, and not what the reader
// does between two reads.
type timedBody struct {
	body   io.ReadCloser
	ctx    context.Context    // of the attempt
	cancel context.CancelFunc // ends the attempt
	timer  *time.Timer        // calls cancel; nil before the first Read
	end    time.Time          // the deadline of the whole body; zero for a stream
	slow   bool               // the timer has called cancel
}

// endless removes the deadline of the whole body.
func (b *timedBody) endless() { b.end = time.Time{} }

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	if !b.start() {
		return 0, errSlowBody
	}
	n, err := b.body.Read(p)
	b.slow = !b.timer.Stop() || b.slow
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case b.slow:
		return n, errSlowBody
	}
	return n, unquoted(timedOut(b.ctx, err)) // the error may quote a trailer that cannot be read
}

// start starts the timer for a Read. It returns false if the time for the whole body is over.
func (b *timedBody) start() bool {
	if b.timer == nil { // the body has just begun: its end is later
		b.timer = time.AfterFunc(bodyStall, b.cancel)
		return true
	}
	left := bodyStall
	if !b.end.IsZero() {
		left = min(left, time.Until(b.end))
	}
	if left > 0 {
		b.timer.Reset(left)
	}
	return left > 0
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	err := b.body.Close()
	b.cancel()
	return err
}
