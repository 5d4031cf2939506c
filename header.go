package moneymovement

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// HeaderOption is an option of a call and of a wait: [Header].
type HeaderOption interface {
	CallOption
	WaitOption
}

// Header adds a header to every request of one call or of one wait, such as a correlation id, traceparent or baggage:
// to each attempt, and to each request of a method that makes several, such as dapi's Payouts.Pay, Payouts.Wait or an
// iteration over pages. A request that serves other calls too does not have it: a login, and the list of chains that
// payments share. The SDK follows no redirect, so it goes to the service alone. It is not part of what an idempotency
// key stands for: the same call with another header is the same call.
//
// name has letters, digits and hyphens. Upper and lower case are the same. If the same name is given twice, the last
// value is sent. value is printable ASCII, not empty, and does not begin or end with a blank. A call has at most 16
// such headers, with at most 16,384 characters of names and values.
//
// Some names are refused:
//
//   - those of credentials and of keys: Authorization, Cookie, every name with a word such as auth or one that ends in
//     key, and every name with token, secret, password, signature, idempotency or the like in it, as in X-Api-Keys or
//     Sessiontoken;
//   - those that belong to one connection, such as Connection, TE or Proxy-Connection;
//   - those in which proxies say who has sent a request, and where to: Forwarded, X-Forwarded-*, X-Original-*,
//     X-Remote-*, X-Real-IP, X-Host;
//   - those that the SDK sets, or that change what a request does or what its response is: Host, User-Agent, Content-*,
//     Accept*, If-*, Range, X-Service-Account.
//
// The call then fails with *errors.InvalidInput, and nothing is sent. A value may appear in the logs of the service and
// of proxies, so do not put secrets into it.
func Header(name, value string) HeaderOption { return headerOption{name, value} }

type headerOption struct{ name, value string }

func (headerOption) ofAnyCall() {}

func (o headerOption) apply(to *CallSettings) { o.add(&to.Header, &to.Invalid) }

func (o headerOption) applyToWait(to *WaitSettings) { o.add(&to.Header, &to.Invalid) }

// The limits of the headers of one call. Baggage alone may have 8,192 characters (W3C Baggage).
const (
	maxHeaders      = 16
	maxHeadersBytes = 16 << 10
)

func (o headerOption) add(to *http.Header, invalid *[]errors.Field) {
	name := textproto.CanonicalMIMEHeaderKey(o.name)
	if code, message := problemOfHeader(name, o.value); code != "" {
		refuse(invalid, "Header", code, message)
		return
	}
	if *to == nil {
		*to = http.Header{}
	}
	to.Set(name, o.value)
	length := 0
	for name, values := range *to {
		length += len(name) + len(values[0])
	}
	if len(*to) > maxHeaders || length > maxHeadersBytes {
		refuse(invalid, "Header", "too_long", fmt.Sprintf(
			"is given too often or is too long: a call may have %d headers, with %d characters of names and values",
			maxHeaders, maxHeadersBytes))
	}
}

// problemOfHeader returns why a header is refused. It does not repeat the value, which could be a secret.
func problemOfHeader(name, value string) (code, message string) {
	switch {
	case name == "" || strings.ContainsFunc(name, notInName):
		return "pattern", "needs a name of letters, digits and hyphens, such as traceparent"
	case namesCredential(name):
		return "not_allowed", fmt.Sprintf("must not be %s: a header of a call holds no credential and no key. "+
			"Credentials belong to the client, and a key to IdempotencyKey", name)
	case reserved(name):
		return "not_allowed", fmt.Sprintf("must not be %s: the SDK or the connection sets it, or it changes what "+
			"the request does", name)
	case value == "":
		return errors.FieldMissing, name + " needs a value: leave the option out if there is none"
	case strings.ContainsFunc(value, notInValue):
		return "pattern", name + " has characters other than printable ASCII: encode them, for example as %0A"
	case strings.TrimSpace(value) != value:
		return "pattern", name + " begins or ends with a blank: remove it"
	}
	return "", ""
}

// notInName reports characters that are not used in names of headers. HTTP allows more, but servers differ in how they
// read those: for some, X_Api_Key is X-Api-Key.
func notInName(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
}

func notInValue(r rune) bool { return r < ' ' || r > '~' }

// namesCredential reports a name with a word that names a credential or a key. A list of whole names would miss those
// of proxies and of other services. Some write the words as one, so most words are found anywhere in the name. The
// short ones are words of their own, since others contain them.
func namesCredential(name string) bool {
	name = strings.ToLower(name)
	joined := strings.ReplaceAll(name, "-", "")
	for _, part := range [...]string{"token", "secret", "passw", "passphrase", "credential", "cookie", "authoriz",
		"authenti", "apikey", "accesskey", "privatekey", "secretkey", "bearer", "dpop", "idempotency", "signature",
		"clientcert"} {
		if strings.Contains(joined, part) {
			return true
		}
	}
	return slices.ContainsFunc(strings.Split(name, "-"), func(word string) bool {
		switch word {
		case "auth", "jwt", "jwts", "pass":
			return true
		}
		return strings.HasSuffix(strings.TrimSuffix(word, "s"), "key")
	})
}

// reserved reports a name that belongs to the SDK or to the connection, or that changes what a request does.
func reserved(name string) bool {
	for _, family := range [...]string{"Accept", "Content-", "Proxy-", "Sec-", "If-", "Access-Control-", "Device-",
		"X-Forwarded-", "X-Original-", "X-Remote-"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	switch name {
	case "Connection", "Keep-Alive", "Te", "Trailer", "Trailers", "Transfer-Encoding", "Upgrade", "Http2-Settings",
		"Host", "User-Agent", "Expect", "Date", "Via", "Max-Forwards", "Early-Data", "X-Service-Account",
		"Range", "Prefer", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
		"Forwarded", "X-Real-Ip", "True-Client-Ip", "X-Client-Ip", "X-Host", "X-Rewrite-Url":
		return true
	}
	return false
}

// Deprecation is what a response says about the end of its operation, in its headers Deprecation (RFC 9745), Sunset
// (RFC 8594) and Link.
type Deprecation struct {
	// Since is when the operation was deprecated, or will be. It is zero if the response has only a Sunset, or a
	// Deprecation without a date that can be read.
	Since time.Time
	// Sunset is when the operation is expected to end. It is zero if the response does not say it.
	Sunset time.Time
	// Link is the address of a page about it, of at most 2,048 characters, as the service gave it. It is empty without
	// one.
	Link string
}

// RateLimit is what a response says about one rate window of the service, in its headers RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers). The service's description does not state these headers. The SDK reports
// them, and does not change its pace because of them.
type RateLimit struct {
	// Policy is the service's name of the window.
	Policy string
	// Remaining is how much of the window is left, -1 if the response does not say it.
	Remaining int64
	// Reset is after which time more is available. It is zero if the response does not say it.
	Reset time.Duration
	// Quota is how much the window allows, -1 if the response does not say it.
	Quota int64
	// Window is how long the window lasts. It is zero if the response does not say it.
	Window time.Duration
}
