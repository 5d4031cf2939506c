package transport

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Stream is the body of a response, such as a PDF, that is read as it arrives. Close it. Surfaces have a public name
// for it. A stream that is longer than the bound, or incomplete, ends in *errors.UnexpectedResponse.
type Stream struct {
	// ContentType is the announced media type.
	ContentType string
	// Length is the announced number of bytes. It is -1 if it is not known.
	Length int64
	// RequestID is the service's X-Request-ID.
	RequestID string

	body    io.ReadCloser
	left    int64
	tracker *tracker
	cancel  context.CancelFunc // of the call's timeout, nil for none
}

// maxStream is the largest stream.
const maxStream = 64 << 20

// Open does what [Do] does for an operation that returns bytes of the given media type. Another type, such as a proxy's
// page, is *errors.UnexpectedResponse. ctx must live as long as the stream is read.
func Open(ctx context.Context, c *Client, r *Request, mediaType string) (*Stream, error) {
	s := &streaming{mediaType: mediaType}
	r.stream = s
	if _, err := Do[NoContent](ctx, c, r); err != nil {
		return nil, err
	}
	return s.opened, nil
}

// streaming asks for a stream, and holds it when it is open.
type streaming struct {
	mediaType string
	opened    *Stream
}

// open keeps the body of a success of the right type open. It leaves every other response to be read and judged.
func (s *streaming) open(t *tracker, resp *http.Response) (opened bool) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || err != nil || kind != s.mediaType || resp.ContentLength > maxStream {
		return false
	}
	t.answer = answer{status: resp.StatusCode, header: resp.Header}
	t.body.endless()
	s.opened = &Stream{
		ContentType: kind, Length: resp.ContentLength, RequestID: resp.Header.Get("X-Request-ID"),
		body: resp.Body, left: maxStream, tracker: t,
	}
	return true
}

// end returns nil for an open stream, and an error for a success of another type.
func (s *streaming) end(t *tracker) error {
	if s.opened != nil {
		return nil
	}
	return t.answer.unexpected(t, fmt.Errorf("the response is not %s of at most %d bytes", s.mediaType, maxStream))
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if s.left <= 0 {
		var one [1]byte
		if n, err := s.body.Read(one[:]); n == 0 {
			return 0, s.ended(err)
		}
		return 0, s.tracker.answer.unexpected(s.tracker, fmt.Errorf("the response is longer than %d bytes", maxStream))
	}
	if int64(len(p)) > s.left {
		p = p[:s.left]
	}
	n, err := s.body.Read(p)
	s.left -= int64(n)
	return n, s.ended(err)
}

// ended turns the error of an incomplete body into a typed one. The end of the body stays io.EOF.
func (s *Stream) ended(err error) error {
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return s.tracker.answer.unexpected(s.tracker, fmt.Errorf("the response ended early: %w", err))
}

// Close implements io.Closer.
func (s *Stream) Close() error {
	if s.cancel != nil {
		defer s.cancel()
	}
	return s.body.Close()
}
