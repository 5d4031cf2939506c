package transport

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Stream is an answer that is read as it comes, such as a PDF. Close it. Its public name is that of the surface that
// answers it.
//
// A read beyond the bound is *errors.UnexpectedAnswer, and so is an answer that breaks off.
type Stream struct {
	// ContentType is the media type, as announced.
	ContentType string
	// Length is how many bytes were announced, -1 if that is not known.
	Length int64
	// RequestID is the service's X-Request-ID.
	RequestID string

	body   io.ReadCloser
	left   int64
	trip   *trip
	cancel context.CancelFunc // of the call's timeout, nil for none
}

// maxStream bounds what one stream gives.
const maxStream = 64 << 20

// Open walks the path of [Do] for an operation that answers bytes of the given media type. Any other type, such as an
// HTML page of a proxy, is *errors.UnexpectedAnswer. ctx has to live as long as the stream is read.
func Open(ctx context.Context, c *Client, r *Request, mediaType string) (*Stream, error) {
	s := &streaming{mediaType: mediaType}
	r.stream = s
	if _, err := Do[NoContent](ctx, c, r); err != nil {
		return nil, err
	}
	return s.opened, nil
}

// streaming is the wish for a stream, and then the stream.
type streaming struct {
	mediaType string
	opened    *Stream
}

// open takes a success of the right type as it is, and leaves every other answer to be read and judged.
func (s *streaming) open(t *trip, resp *http.Response) (opened bool) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || err != nil || kind != s.mediaType || resp.ContentLength > maxStream {
		return false
	}
	t.answer = answer{status: resp.StatusCode, header: resp.Header}
	t.body.endless()
	s.opened = &Stream{
		ContentType: kind, Length: resp.ContentLength, RequestID: resp.Header.Get("X-Request-ID"),
		body: resp.Body, left: maxStream, trip: t,
	}
	return true
}

// end is nil for an opened stream, and the error for a success of another type.
func (s *streaming) end(t *trip) error {
	if s.opened != nil {
		return nil
	}
	return t.answer.unexpected(t, fmt.Errorf("answer is no %s of at most %d bytes", s.mediaType, maxStream))
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if s.left <= 0 {
		var one [1]byte
		if n, err := s.body.Read(one[:]); n == 0 {
			return 0, s.ended(err)
		}
		return 0, s.trip.answer.unexpected(s.trip, fmt.Errorf("answer is longer than %d bytes", maxStream))
	}
	if int64(len(p)) > s.left {
		p = p[:s.left]
	}
	n, err := s.body.Read(p)
	s.left -= int64(n)
	return n, s.ended(err)
}

// ended tells the end of the answer from its breaking off.
func (s *Stream) ended(err error) error {
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return s.trip.answer.unexpected(s.trip, fmt.Errorf("answer broke off: %w", err))
}

// Close implements io.Closer.
func (s *Stream) Close() error {
	if s.cancel != nil {
		defer s.cancel()
	}
	return s.body.Close()
}
