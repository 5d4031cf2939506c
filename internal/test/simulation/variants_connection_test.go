package simulation

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// connectionFunc is a connection in one function.
type connectionFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f connectionFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// connectionVariants break rules of the way to the service: each on both programs.
func connectionVariants() (all []variant) {
	for _, on := range []string{"dapi alone", "payments"} {
		for _, v := range []variant{
			{name: "bookings have no key", broke: Break{Connection: withoutKey}},
			{name: "each attempt has a key of its own", broke: Break{Connection: freshKeys}},
			{name: "a booking is changed on its way", broke: Break{Connection: otherAmounts}},
			{name: "Retry-After is not seen", broke: Break{Connection: withoutRetryAfter}},
			{name: "redirects are followed", broke: Break{Connection: following}},
			{name: "a lost request is sent again below", broke: Break{Connection: repeating}},
			{name: "a refused request is repeated without end", broke: Break{Connection: insisting}},
			{name: "approvals are signed unread", broke: Break{Connection: lying, Developer: func(d *dapi.Developer) {
				d.Verifier = func(context.Context, signing.Approval, signing.Intent) error { return nil }
			}}},
		} {
			v.on = on
			all = append(all, v)
		}
	}
	return all
}

func withoutKey(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		return next.RoundTrip(keyed(r, ""))
	})
}

func freshKeys(next http.RoundTripper) http.RoundTripper {
	var n atomic.Int64
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		if key := headerOf(r.Header, "Idempotency-Key"); key != "" {
			r = keyed(r, key+"-"+strconv.FormatInt(n.Add(1), 10))
		}
		return next.RoundTrip(r)
	})
}

// keyed returns a request with another key, or without one.
func keyed(r *http.Request, key string) *http.Request {
	r = r.Clone(r.Context())
	for name := range r.Header { // however it is spelled
		if strings.EqualFold(name, "Idempotency-Key") {
			delete(r.Header, name)
		}
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return r
}

func otherAmounts(next http.RoundTripper) http.RoundTripper {
	var n atomic.Int64
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		if !isBooking(r) || n.Add(1)%5 != 0 {
			return next.RoundTrip(r)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		setBody(r, bytes.Replace(body, []byte(`"amount":"2`), []byte(`"amount":"3`), 1))
		return next.RoundTrip(r)
	})
}

func isBooking(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/payouts")
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

func withoutRetryAfter(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err == nil {
			response.Header.Del("Retry-After")
		}
		return response, err
	})
}

func following(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		response, err := next.RoundTrip(r)
		if err != nil || response.Header.Get("Location") == "" {
			return response, err
		}
		response.Body.Close()
		there, err := response.Location()
		if err != nil {
			return nil, err
		}
		again := r.Clone(r.Context())
		again.URL = there
		setBody(again, body)
		return next.RoundTrip(again)
	})
}

// read returns the body of a request, which can still be sent.
func read(r *http.Request) []byte {
	if r.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(r.Body)
	setBody(r, body)
	return body
}

func repeating(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		response, err := next.RoundTrip(r)
		if err == nil {
			return response, nil
		}
		again := r.Clone(r.Context())
		setBody(again, body)
		return next.RoundTrip(again)
	})
}

func insisting(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		for {
			again := r.Clone(r.Context())
			setBody(again, body)
			response, err := next.RoundTrip(again)
			if err != nil || response.StatusCode != http.StatusTooManyRequests {
				return response, err
			}
			response.Body.Close()
		}
	})
}

// lying changes the contact in each approval. The SDK notices that, unless it signs what it does not read.
func lying(next http.RoundTripper) http.RoundTripper {
	return lyingAbout(next, isBooking, `"contactId":"ct_`, `"contactId":"ct_of-another-`)
}

func lyingAbout(next http.RoundTripper, what func(*http.Request) bool, truth, lie string) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil || !what(r) || response.StatusCode >= http.StatusMultipleChoices {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		if _, rest, found := bytes.Cut(body, []byte(`"payload":"`)); found {
			encoded, _, _ := bytes.Cut(rest, []byte(`"`))
			payload, err := base64.StdEncoding.DecodeString(string(encoded))
			if err != nil {
				return nil, err
			}
			changed := bytes.Replace(payload, []byte(truth), []byte(lie), 1)
			body = bytes.Replace(body, encoded, []byte(base64.StdEncoding.EncodeToString(changed)), 1)
		}
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return response, nil
	})
}
