package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/moneymovement/moneymovement-go/errors"
)

// FuzzStream checks that a stream is opened for a complete response of its type and for no other. The stream has the
// body's bytes up to its limit. Then it ends, or fails with *errors.UnexpectedResponse if it is incomplete or too long.
func FuzzStream(f *testing.F) {
	f.Add(200, "application/pdf", int64(8), []byte("%PDF-1.7"), false, uint16(1000), uint16(512))
	f.Add(200, "application/pdf; charset=binary", int64(-1), []byte("%PDF-1.7"), false, uint16(8), uint16(3))
	f.Add(200, "Application/PDF", int64(-1), []byte("%PDF-1.7"), false, uint16(7), uint16(1))
	f.Add(200, "application/pdf", int64(100), []byte("%PDF"), true, uint16(1000), uint16(512))
	f.Add(200, "application/pdf", int64(maxStream+1), []byte("%PDF"), false, uint16(1000), uint16(512))
	f.Add(200, "text/html", int64(-1), []byte("<html>"), false, uint16(1000), uint16(512))
	f.Add(200, "", int64(-1), []byte{}, false, uint16(0), uint16(0))
	f.Add(404, "application/json", int64(-1), []byte(`{"error":{"code":"not_found"}}`), false, uint16(1000),
		uint16(512))
	op := Operation{ID: "RenderThing", Method: http.MethodGet, Path: "/things"}
	f.Fuzz(func(t *testing.T, status int, contentType string, announced int64, body []byte, breaks bool, bound,
		step uint16) {
		served := &servedBody{body: body, breaks: breaks}
		call := NewRequest(&op, "", Call{})
		wanted := &streaming{mediaType: "application/pdf"}
		opened := wanted.open(call, &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, ContentLength: announced,
			Body: served,
		})
		isPDF := strings.EqualFold(strings.TrimSpace(strings.SplitN(contentType, ";", 2)[0]), "application/pdf")
		if opened != (wanted.opened != nil) || opened && (status != http.StatusOK || !isPDF || announced > maxStream) {
			t.Fatalf("%d %q of %d bytes is opened: %v", status, contentType, announced, opened)
		}
		if !opened {
			call.answer = answer{status: status, header: http.Header{}}
			requireUnexpected(t, wanted.end(call), status)
			return
		}
		if err := wanted.end(call); err != nil {
			t.Fatal(err)
		}
		stream := wanted.opened
		if stream.left != maxStream || stream.Length != announced {
			t.Fatalf("%d bytes are left of %d", stream.left, stream.Length)
		}
		stream.left = int64(bound) // 64 MiB would take long to fill
		var got []byte
		var err error
		for p := make([]byte, int(step)+1); err == nil; {
			var n int
			n, err = stream.Read(p)
			got = append(got, p[:n]...)
			if n > len(p) || len(got) > int(bound) {
				t.Fatalf("%d bytes after a bound of %d", len(got), bound)
			}
		}
		if whole := body[:min(len(body), int(bound))]; !bytes.Equal(got, whole) {
			t.Fatalf("%q became %q", whole, got)
		}
		if len(body) <= int(bound) && !breaks {
			if err != io.EOF { //nolint:errorlint // readers compare with it
				t.Fatalf("a whole body ends in %v", err)
			}
		} else {
			requireUnexpected(t, err, http.StatusOK)
		}
		if stream.Close(); !served.closed {
			t.Fatal("the body is not closed")
		}
	})
}

func requireUnexpected(t *testing.T, err error, status int) {
	unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err)
	if !ok || unexpected.Operation != "RenderThing" || unexpected.Status != status {
		t.Fatalf("%v, of status "+strconv.Itoa(status), err)
	}
	if text := err.Error(); len(text) > 4096 || strings.ContainsAny(text, "\r\n") {
		t.Fatalf("%q is no bounded line", text)
	}
}

// servedBody gives its bytes, and ends or breaks off.
type servedBody struct {
	body           []byte
	breaks, closed bool
}

func (s *servedBody) Read(p []byte) (int, error) {
	n := copy(p, s.body)
	s.body = s.body[n:]
	switch {
	case n > 0 || len(p) == 0:
		return n, nil
	case s.breaks:
		return 0, io.ErrUnexpectedEOF
	}
	return 0, io.EOF
}

func (s *servedBody) Close() error {
	s.closed = true
	return nil
}
