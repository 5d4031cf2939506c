package bench

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// service is what both sides call. It returns prepared bytes: in memory as an [http.RoundTripper], or over TCP as an
// [http.Handler]. It does as little as it can, because its cost is in the figures of both sides and moves their ratio
// closer to one.
type service struct {
	respond func(r *http.Request) *response
	keep    func(sent) // gets each request, nil while measuring
}

type response struct {
	status int
	header http.Header
	body   []byte
}

// sent is one request as the service sees it.
type sent struct {
	method, url string
	header      http.Header
	body        []byte
}

// always returns a service with one response.
func always(status int, body string, header ...string) *service {
	prepared := withJSON(status, body)
	for i := 0; i+1 < len(header); i += 2 {
		prepared.header.Set(header[i], header[i+1])
	}
	return &service{respond: func(*http.Request) *response { return prepared }}
}

func withJSON(status int, body string) *response {
	return &response{status: status, body: []byte(body), header: http.Header{
		"Content-Type": {"application/json"},
		"Date":         {"Sun, 04 May 2031 10:00:00 GMT"}, // every server sends one, and the SDK reads it
		"X-Request-Id": {"req_01J9Z3K8R4"},
	}}
}

// RoundTrip implements [http.RoundTripper].
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.take(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: response.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: response.header,
		ContentLength: int64(len(response.body)), Body: connection{bytes.NewReader(response.body)}, Request: r,
	}, nil
}

// connection hides that the bytes are in memory: a connection has Read and Close only.
type connection struct{ r *bytes.Reader }

func (c connection) Read(p []byte) (int, error) { return c.r.Read(p) }
func (c connection) Close() error               { return nil }

// ServeHTTP implements [http.Handler].
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response, err := s.take(r)
	if err != nil {
		return // the connection has gone
	}
	header := w.Header()
	for name, values := range response.header {
		header[name] = values
	}
	w.WriteHeader(response.status)
	_, _ = w.Write(response.body)
}

// take reads a request, and returns the response to it.
func (s *service) take(r *http.Request) (*response, error) {
	var body []byte
	if r.Body != nil && r.Body != http.NoBody {
		defer r.Body.Close()
		var err error
		if s.keep != nil {
			body, err = io.ReadAll(r.Body)
		} else {
			_, err = io.Copy(io.Discard, r.Body)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.keep != nil {
		s.keep(sent{method: r.Method, url: r.URL.String(), header: r.Header.Clone(), body: body})
	}
	return s.respond(r), nil
}

const (
	inMemory   = "https://service.invalid" // the address of a service in memory
	payoutID   = "po_01J9Z3K8QW5T7"
	contactID  = "ct_01J9Z3H2MB4C6"
	clientID   = "cl_8fK2n5QxT3vR"
	email      = "ops@example.com"
	pageLength = 100 // of the longest page of the service
)

// token is the access token of every session. It belongs to nobody.
//
//gosec:disable G101 -- it opens nothing
const token = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbF84ZksybjVReFQzdlIifQ.c2lnbmF0dXJl"

// form is how the service writes a response: plain, with two members in each object that no client knows, with text in
// Greek and a slash as \/, or with one member whose type is assumed in another type.
type form string

const (
	plain     form = ""
	unknown   form = "-unknown"
	greek     form = "-greek"
	otherType form = "-other"
	otherHash      = `"transactionHash":{"chain":"base","hash":"0x9c2b7d0f"}`
)

// write returns a response in a form. The form otherType needs more than the text.
func (f form) write(plain string) string {
	switch f {
	case unknown:
		return strings.ReplaceAll(plain, `{"`, `{"addedLater":"2031-05-04","scores":{"low":[1,2.5],"seen":true},"`)
	case greek:
		return strings.NewReplacer(
			`"Invoice 42"`, `"Τιμολόγιο 42\/2031"`, `"services"`, `"υπηρεσίες"`, `"deposit"`, `"κατάθεση\/bank"`,
			`"payout","dir`, `"πληρωμή\/bank","dir`, `"refund"`, `"επιστροφή\/bank"`,
		).Replace(plain)
	}
	return plain
}

// payout returns a booked payout with its quote and approval, some 900 bytes.
func payout(form form) string {
	hash := ""
	if form == otherType { // the others have no hash yet
		hash = otherHash + ","
	}
	return form.write(`{"id":"` + payoutID +
		`","status":"awaiting_approval","idempotencyKey":"invoice-42","contactId":"` +
		contactID + `","amount":"1250.50","currency":"USDC","paymentReference":"Invoice 42","purpose":"services",` +
		`"documentIds":["doc_01J9Z3A1","doc_01J9Z3A2"],` +
		`"quote":{"sourceAmount":"1250.50","sourceCurrency":"USDC","destinationAmount":"1147.93",` +
		`"destinationCurrency":"EUR","rate":"0.91873","fee":"1.05","expiresAt":"2031-05-04T10:02:00Z"},` +
		`"approval":{"id":"ap_01J9Z3K8R0","payload":"` +
		`eyJhY2NvdW50IjoiY2xfOGZLMm41UXhUM3ZSIiwiYW1vdW50IjoiMTI1MC41MCIsImFwcHJvdmFsSWQiOiJhcF8wMUo5WjNLOFIwIiwiY3Vy` +
		`cmVuY3kiOiJVU0RDIiwiZXhwaXJlc0F0IjoiMjAzMS0wNS0wNFQxMDowMjowMFoiLCJub25jZSI6Ik1EQXdNREF3TURBIiwib3BlcmF0aW` +
		`9uIjoicGF5b3V0LmZ1bmQifQ==","expiresAt":"2031-05-04T10:02:00Z"},` +
		hash + `"createdAt":"2031-05-04T10:00:00Z"}`)
}

// ledgerPage returns a full page of the ledger, some 29 kB: payouts, deposits and refunds by turns, as in an account's
// history. Pages are numbered from 0 on, and next is the cursor of the next one, "" on the last.
func ledgerPage(form form, number int, next string) string {
	var page strings.Builder
	page.WriteString(`{"items":[`)
	for i := range pageLength {
		if i > 0 {
			page.WriteByte(',')
		}
		kind, direction, owner := "payout", "out", fmt.Sprintf(`"payoutId":"po_01J9Z3K8%05d",`, i)
		switch i % 5 {
		case 1, 2:
			kind, direction, owner = "deposit", "in", ""
		case 3:
			kind, direction = "refund", "in"
		}
		hash := fmt.Sprintf(`"transactionHash":"0x9c2b7d0f4a6e8135%048x"`, i)
		if form == otherType && i == pageLength/2 {
			hash = otherHash
		}
		fmt.Fprintf(&page,
			`{"id":"tx_01J9Z4T%08d","type":"%s","direction":"%s","amount":"%d.%02d","currency":"USDC",`+
				`"status":"completed",%s%s,"createdAt":"2031-05-04T%02d:%02d:00Z"}`,
			number*pageLength+i, kind, direction, 10+i*37, i, owner, hash, i/60, i%60)
	}
	page.WriteString(`]`)
	if next != "" {
		page.WriteString(`,"nextCursor":"` + next + `"`)
	}
	page.WriteString(`}`)
	return form.write(page.String())
}

// ledger returns a service with so many full pages of the ledger. The cursor is the number of the page: a request for
// the first one has none. The first ten pages are prepared.
func ledger(pages int) *service {
	page := func(number int) *response {
		next := ""
		if number+1 < pages {
			next = strconv.Itoa(number + 1)
		}
		return withJSON(http.StatusOK, ledgerPage(plain, number, next))
	}
	prepared := make([]*response, min(pages, 10))
	for i := range prepared {
		prepared[i] = page(i)
	}
	return &service{respond: func(r *http.Request) *response {
		number, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		if number < len(prepared) {
			return prepared[number]
		}
		return page(number)
	}}
}

// loggingIn returns a service that logs clients in, and responds to all other requests with a payout.
func loggingIn() *service {
	challenge := withJSON(http.StatusCreated, `{"challengeId":"ch_01J9Z3K8","payload":"`+
		base64.StdEncoding.EncodeToString([]byte("log in: 01J9Z3K8R0QW5T7"))+`","expiresAt":"`+
		time.Now().Add(5*time.Minute).UTC().Format(time.RFC3339)+`"}`)
	grant := withJSON(http.StatusCreated, `{"accessToken":"`+token+`","refreshToken":"refresh","tokenType":"Bearer",`+
		`"expiresIn":3600,"refreshExpiresIn":5184000}`)
	read := withJSON(http.StatusOK, payout(plain))
	return &service{respond: func(r *http.Request) *response {
		switch {
		case strings.HasSuffix(r.URL.Path, "/auth/challenge"):
			return challenge
		case strings.HasSuffix(r.URL.Path, "/auth/token"):
			return grant
		}
		return read
	}}
}

// paying returns a service that books payouts, takes confirms and shows the payouts. Each booking has an id and an
// approval that no other has: they come from its key. A confirm returns the payout as it was, so that a client must
// read it once more.
func paying() *service {
	const payouts = "/dapi/v1/payouts"
	return &service{respond: func(r *http.Request) *response {
		now := time.Now().UTC().Truncate(time.Second)
		id, _ := strings.CutPrefix(r.URL.Path, payouts+"/")
		id, confirms := strings.CutSuffix(id, "/confirm")
		status, state, approval := http.StatusOK, "processing", ""
		switch {
		case confirms:
			state = "awaiting_approval"
		case r.Method == http.MethodPost:
			id = "po_" + r.Header.Get("Idempotency-Key")
			status, state, approval = http.StatusCreated, "awaiting_approval", approvalOf(now, id)
		}
		response := withJSON(status, `{"id":"`+id+`","status":"`+state+`","idempotencyKey":"`+id[len("po_"):]+
			`","contactId":"`+contactID+`","amount":"1250.50","currency":"USDC","quote":{"sourceAmount":"1250.50",`+
			`"sourceCurrency":"USDC","destinationAmount":"1147.93","destinationCurrency":"EUR","rate":"0.91873",`+
			`"fee":"1.05","expiresAt":"`+end(now)+`"},`+approval+`"createdAt":"`+now.Format(time.RFC3339)+`"}`)
		response.header["Date"] = []string{now.Format(http.TimeFormat)}
		return response
	}}
}

// end is sooner than an approval may end, for clocks that differ.
func end(now time.Time) string { return now.Add(100 * time.Second).Format(time.RFC3339) }

// approvalOf returns the member with the approval of a payout. Its payload is canonical JSON, as the service writes it.
func approvalOf(now time.Time, payoutID string) string {
	id := payoutID[len("po_"):]
	payload := `{"account":"` + clientID + `","amount":"1250.5","approvalId":"ap_` + id + `","currency":"USDC",` +
		`"destination":{"contactId":"` + contactID + `"},"expiresAt":"` + end(now) + `","nonce":"` + id +
		`","operation":"payout.fund","resourceId":"` + payoutID + `"}`
	return `"approval":{"id":"ap_` + id + `","payload":"` + base64.StdEncoding.EncodeToString([]byte(payload)) +
		`","expiresAt":"` + end(now) + `"},`
}
