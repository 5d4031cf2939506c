// Package errorbase has what package errors shares with the packages above it: what the request path knows about a
// call, why a connection could not be made, and the link from the text of an error to the error page, docs/errors.md.
// It is internal, so that only the SDK can set what an error says about money.
package errorbase

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Facts are what is known about a call. The zero value describes a payment: a write that can move money, and whose
// idempotency key prevents a second payment.
type Facts struct {
	ReadOnly  bool    // it changes nothing
	Once      bool    // sending it again may do it twice: it has no idempotency key and no natural key
	Moneyless bool    // it moves no money, even if it succeeds
	Earlier   Earlier // of a payment whose last call paid nothing
	Misplaced string  // what the credential looks like, if it looks like that of another surface
}

// Earlier is what is known of the other calls for a payment.
type Earlier int

// The values of Earlier.
const (
	NonePaid Earlier = iota // none has paid or can still pay, as far as is known
	MayExist                // nothing shows that there is none that may have paid
	MayPay                  // one of them may have paid, or still can
)

// The functions of package errors that only the SDK calls. Package errors sets them: it is above this package, so that
// its own exported functions stay those that programs need.
var (
	// SetFacts sets the facts of a call, which is an *errors.CallInfo or an error that embeds one.
	SetFacts func(of any, facts Facts)
	// WithoutEffect reports that the service did not carry out the request of err, also if the request moves no money.
	WithoutEffect func(err error) bool
	// SetResource sets the resource and the idempotency key in the CallInfo of err, for a flow of several calls.
	SetResource func(err error, resource, key string)
	// Clone returns a copy of err that SetResource can change. All calls that waited for the same login share its
	// error, so each of them needs its own copy.
	Clone func(err error) error
)

// With returns an errors.CallInfo with the facts.
func With[CallInfo any](call CallInfo, facts Facts) CallInfo {
	SetFacts(&call, facts)
	return call
}

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

// PageAddress is where the error page is published. A text has at most one link to it, at its end: that of the
// outermost error.
const PageAddress = "https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md"

// before comes in front of a link in a text.
const before = " - see "

// Text returns the text of err with a link to the entry of err's type.
func Text(err error, text string) string {
	return LinkTo(Anchor(strings.TrimPrefix(fmt.Sprintf("%T", err), "*")), text)
}

// Textf is [Text] with a text that fmt formats.
func Textf(err error, format string, args ...any) string {
	return Text(err, fmt.Sprintf(format, args...))
}

// LinkTo returns text with a link to an anchor of the page, in place of the links of the errors that text quotes.
func LinkTo(anchor, text string) string {
	return WithoutLink(text) + before + PageAddress + "#" + anchor
}

// Anchor returns the anchor of an entry: a slug, or a Go type such as dapi.PriceRefused.
func Anchor(entry string) string { return strings.ToLower(strings.ReplaceAll(entry, ".", "")) }

// WithoutLink returns text without links to the page.
func WithoutLink(text string) string {
	const link = before + PageAddress + "#"
	for {
		head, rest, found := strings.Cut(text, link)
		if !found {
			return text
		}
		text = head + strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz0123456789_")
	}
}
