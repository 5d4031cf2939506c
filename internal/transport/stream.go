package transport

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Stream is the body of a response, such as a PDF, that is read as it arrives. Close it after use. Surfaces have a
// public name for it. If the stream is longer than the limit, or incomplete, Read fails with
// *errors.UnexpectedResponse.
type Stream struct {
	// ContentType is the media type of the response.
	ContentType string
	// Length is the number of bytes that the response announces, or -1 if it announces none.
	Length int64
	// RequestID is the X-Request-ID of the response.
	RequestID string

	body    io.ReadCloser
	left    int64
	request *Request
	cancel  context.CancelFunc // of the call's timeout; nil for no timeout
}

// maxStream is the largest stream.
const maxStream = 64 << 20

// Open is [Do] for an operation that returns bytes of the given media type. If the response has another type, such as a
// proxy's page, Open fails with *errors.UnexpectedResponse. ctx must live until the stream is read.
func Open(ctx context.Context, c *Client, r *Request, mediaType string) (*Stream, error) {
	s := &streaming{mediaType: mediaType}
	r.stream = s
	if _, err := Do[NoContent](ctx, c, r); err != nil {
		return nil, err
	}
	return s.opened, nil
}

// streaming asks for a stream, and holds the open stream.
type streaming struct {
	mediaType string
	opened    *Stream
}

// open keeps the body open if the response is a success of the right type. It leaves every other response to decode.
func (s *streaming) open(r *Request, resp *http.Response) (opened bool) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || err != nil || kind != s.mediaType || resp.ContentLength > maxStream {
		return false
	}
	r.response = response{status: resp.StatusCode, header: resp.Header}
	if body, ours := resp.Body.(*timedBody); ours { // which no log has wrapped, for a success
		body.endless()
	}
	s.opened = &Stream{
		ContentType: kind, Length: resp.ContentLength, RequestID: resp.Header.Get(requestIDHeader),
		body: resp.Body, left: maxStream, request: r,
	}
	return true
}

// end returns nil for an open stream, and an error for a success of another type.
func (s *streaming) end(r *Request) error {
	if s.opened != nil {
		return nil
	}
	return r.response.unexpected(r, fmt.Errorf("the response is not %s of at most %d bytes", s.mediaType, maxStream))
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if s.left <= 0 {
		var one [1]byte
		if n, err := s.body.Read(one[:]); n == 0 {
			return 0, s.readError(err)
		}
		return 0, s.request.response.unexpected(s.request,
			fmt.Errorf("the response is too large: it has more than %d bytes", maxStream))
	}
	if int64(len(p)) > s.left {
		p = p[:s.left]
	}
	n, err := s.body.Read(p)
	s.left -= int64(n)
	return n, s.readError(err)
}

// readError returns a typed error for an incomplete body. At the end of a complete body it returns io.EOF.
func (s *Stream) readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return s.request.response.unexpected(s.request, fmt.Errorf("the response ended early: %w", err))
}

// Close implements io.Closer.
func (s *Stream) Close() error {
	if s.cancel != nil {
		defer s.cancel()
	}
	return s.body.Close()
}

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
	if left <= 0 {
		return false
	}
	b.timer.Reset(left)
	return true
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	err := b.body.Close()
	b.cancel()
	return err
}
