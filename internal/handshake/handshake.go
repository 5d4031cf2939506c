// Package handshake judges why a connection could not be made. Both the errors and the retries use it.
package handshake

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
)

// Final reports an error that the next attempt would meet again. Nothing was sent.
func Final(err error) bool { return Untrusted(err) || NoTLS(err) }

// Untrusted reports that the server could not prove that it is the service.
func Untrusted(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	return certificate
}

// NoTLS reports that the other end does not speak TLS in a version that we accept.
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
	// The types of these errors, and of an alert, are not exported.
	text := err.Error()
	return strings.Contains(text, "remote error: tls: protocol version not supported") ||
		strings.Contains(text, "tls: server selected unsupported protocol version ") ||
		strings.Contains(text, "tls: no supported versions satisfy MinVersion and MaxVersion")
}
