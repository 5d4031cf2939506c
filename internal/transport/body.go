package transport

import (
	"context"
	"io"
	"sync/atomic"
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
	cancel context.CancelFunc // ends the attempt
	timer  *time.Timer
	end    time.Time // the deadline of the whole body; zero for a stream
	slow   atomic.Bool
}

func newTimedBody(body io.ReadCloser, cancel context.CancelFunc) *timedBody {
	return &timedBody{body: body, cancel: cancel, end: time.Now().Add(bodyWhole)}
}

// endless removes the deadline of the whole body.
func (b *timedBody) endless() { b.end = time.Time{} }

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	left := bodyStall
	if !b.end.IsZero() {
		left = min(left, time.Until(b.end))
	}
	if left <= 0 {
		return 0, errSlowBody
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(left, func() {
			b.slow.Store(true)
			b.cancel()
		})
	} else {
		b.timer.Reset(left)
	}
	n, err := b.body.Read(p)
	b.timer.Stop()
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case b.slow.Load():
		return n, errSlowBody
	}
	return n, unquoted(err) // the error may quote a trailer that cannot be read
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	err := b.body.Close()
	b.cancel()
	return err
}
