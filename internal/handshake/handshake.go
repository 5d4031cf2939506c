// Package handshake judges how making a connection failed. It is on the ground floor, as the errors and the retries
// both ask it.
package handshake

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
)

// Final reports that the other end will not do better the next time. Nothing was sent to it.
func Final(err error) bool { return Untrusted(err) || NoTLS(err) }

// Untrusted reports that the other end could not prove to be the service.
func Untrusted(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	return certificate
}

// NoTLS reports that the other end speaks no TLS that we do.
func NoTLS(err error) bool {
	if err == nil {
		return false
	}
	if record, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return record.Conn != nil // it was the first record, so that no connection was made
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return true
	}
	// Neither these errors nor an alert's type can be named.
	text := err.Error()
	return strings.Contains(text, "remote error: tls: protocol version not supported") ||
		strings.Contains(text, "tls: server selected unsupported protocol version ") ||
		strings.Contains(text, "tls: no supported versions satisfy MinVersion and MaxVersion")
}
