package transport

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Bare sends requests that no operation describes, with the guards of every other call: the SDK's own transport, no
// redirect, no words of a proxy or of a malformed response in an error, and no body that never ends. It adds no
// credential, and sends nothing twice: each request has a connection of its own, on which net/http does not send it
// again.
type Bare struct{ next http.RoundTripper }

// NewBare returns a Bare.
func NewBare() *Bare {
	next := defaultTransport()
	next.DisableKeepAlives = true
	next.ForceAttemptHTTP2 = false // which keeps its connections
	return &Bare{next}
}

// RoundTrip implements http.RoundTripper. The body of the response must be closed.
func (b *Bare) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	request = request.WithContext(ctx)
	request.GetBody = nil
	response, err := b.next.RoundTrip(request)
	if err != nil {
		cancel()
		return nil, unquoted(withoutURL(err))
	}
	dropUnreadableLocation(response.Header)
	response.Body = &timedBody{body: response.Body, ctx: ctx, cancel: cancel, end: time.Now().Add(bodyWhole)}
	return response, nil
}

// dropUnreadableLocation removes a Location that cannot be parsed. http.Client reads it even if it does not follow
// redirects, and its error would print it.
func dropUnreadableLocation(h http.Header) {
	locations := h["Location"]
	if len(locations) == 0 {
		return // the usual case
	}
	if _, err := url.Parse(locations[0]); err != nil {
		h.Del("Location")
	}
}
