package errorbase_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// A permanent handshake error is found wherever it is in a chain, and no other error counts as one.
func TestFinalConnectionErrors(t *testing.T) {
	conn, other := net.Pipe()
	t.Cleanup(func() { _, _ = conn.Close(), other.Close() })
	for name, tc := range map[string]struct {
		err              error
		untrusted, noTLS bool
	}{
		"nothing":       {nil, false, false},
		"a certificate": {&tls.CertificateVerificationError{Err: io.EOF}, true, false},
		"no TLS at all": {http.ErrSchemeMismatch, false, true},
		"a first record of no TLS": {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake",
			Conn: conn}, false, true},
		"a later record that is broken": {tls.RecordHeaderError{Msg: "unsupported version"}, false, false},
		"a later record that quotes one": {
			fmt.Errorf("remote error: tls: protocol version not supported: %w", tls.RecordHeaderError{Msg: "m"}), false,
			false,
		},
		"an alert of the other end": {errors.New("remote error: tls: protocol version not supported"), false, true},
		"another alert":             {errors.New("remote error: tls: internal error"), false, false},
		"a version that is too old": {errors.New("tls: server selected unsupported protocol version 302"), false,
			true},
		"no version in common": {errors.New("tls: no supported versions satisfy MinVersion and MaxVersion"),
			false, true},
		"a connection that broke":    {io.ErrUnexpectedEOF, false, false},
		"a connection that was none": {&net.OpError{Op: "dial", Err: io.EOF}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			wrapped := tc.err
			if tc.err != nil {
				wrapped = fmt.Errorf("sending: %w", tc.err)
			}
			for _, err := range []error{tc.err, wrapped} {
				assert.Equal(t, tc.untrusted, errorbase.Untrusted(err))
				assert.Equal(t, tc.noTLS, errorbase.NoTLS(err))
				assert.Equal(t, tc.untrusted || tc.noTLS, errorbase.Final(err))
			}
		})
	}
}

type Refused struct{ cause error }

func (r *Refused) Error() string {
	text := "refused"
	if r.cause != nil {
		text += " (" + r.cause.Error() + ")"
	}
	return errorbase.Text(r, text)
}

// A text has one link, at its end: that of the outermost error.
func TestATextHasOneLink(t *testing.T) {
	const link = " - see https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#"
	inner := &Refused{}
	assert.Equal(t, "refused"+link+"errorbase_testrefused", inner.Error())
	assert.Equal(t, "refused (refused)"+link+"errorbase_testrefused", (&Refused{inner}).Error())
	assert.Equal(t, "refused (refused)"+link+"not_found", errorbase.LinkTo("not_found", (&Refused{inner}).Error()))

	joined := fmt.Sprintf("%v: %v", inner, inner)
	assert.Equal(t, "refused: refused", errorbase.WithoutLink(joined))
	assert.Equal(t, "https://host.example", errorbase.WithoutLink("https://host.example"))
	assert.Equal(t, "dapipricerefused", errorbase.Anchor("dapi.PriceRefused"))
}
