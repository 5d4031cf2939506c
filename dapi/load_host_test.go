package dapi_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// busyHost stands for a service under load. It counts requests as they arrive, up to a tenth of a second after they
// were sent, and keeps only what a test of load needs to know of a payment. It is simpler and faster than the sandbox
// host.
type busyHost struct {
	writes, reads counter
	tokenLives    time.Duration
	approvalLives time.Duration
	takesBack     bool // a token is good only until the next is granted

	mu      sync.Mutex
	seen    busyCounts
	tokens  map[string]time.Time // until when they are good
	payouts map[string]*busyPayout
}

// busyCounts is what a busyHost has seen.
type busyCounts struct {
	arrivals  []time.Time // of the writes that were let in
	limited   int         // how many requests were over a window
	late      int         // how many confirms came after their approval had closed
	expired   int         // how many calls came with a token that was over
	refreshes int
	logins    int
	booked    []string // the keys, in their order
	paid      int
}

// counts returns what the host has seen. A client may renew its token meanwhile.
func (h *busyHost) counts() busyCounts {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := h.seen
	seen.arrivals, seen.booked = slices.Clone(seen.arrivals), slices.Clone(seen.booked)
	return seen
}

type busyPayout struct {
	id, key, contact, amount string
	closes                   time.Time
	paid                     bool
	completes                time.Time
	reads                    int
}

func newBusyHost(writes, reads counter) *busyHost {
	return &busyHost{
		writes: writes, reads: reads, tokenLives: time.Hour, approvalLives: 2 * time.Minute,
		tokens: map[string]time.Time{}, payouts: map[string]*busyPayout{},
	}
}

// counter is a rate window of the service's.
type counter interface{ take(now time.Time) bool }

// fixedWindow opens with the first request and starts again when its minute is over.
type fixedWindow struct {
	most, count int
	opened      time.Time
}

func (w *fixedWindow) take(now time.Time) bool {
	if now.Sub(w.opened) >= time.Minute {
		w.opened, w.count = now, 0
	}
	w.count++
	return w.count <= w.most
}

// slidingWindow looks back for a minute at any time.
type slidingWindow struct {
	most int
	in   []time.Time
}

func (w *slidingWindow) take(now time.Time) bool {
	for len(w.in) > 0 && now.Sub(w.in[0]) >= time.Minute {
		w.in = w.in[1:]
	}
	if len(w.in) == w.most {
		return false
	}
	w.in = append(w.in, now)
	return true
}

// RoundTrip implements http.RoundTripper.
func (h *busyHost) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent io.Reader = http.NoBody
	if r.Body != nil {
		sent = r.Body
	}
	body, err := io.ReadAll(sent)
	if err != nil {
		return nil, err
	}
	travel()
	status, answer := h.serve(r, body, time.Now())
	travel()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		ContentLength: int64(len(answer)),
		Header:        http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

// travel takes the 20 to 100 ms that a request, or an answer, is on its way.
func travel() { time.Sleep(20*time.Millisecond + rand.N(80*time.Millisecond)) }

func (h *busyHost) serve(r *http.Request, body []byte, now time.Time) (int, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/dapi/v1")
	switch path {
	case "/auth/challenge":
		return http.StatusCreated, fmt.Sprintf(`{"challengeId":"ch_1","expiresAt":%q,"payload":%q}`,
			stamp(now.Add(time.Minute)), encoded("challenge"))
	case "/auth/token":
		h.seen.logins++
		return http.StatusCreated, h.grant(now)
	}
	window := h.writes
	if r.Method == http.MethodGet {
		window = h.reads
	}
	if !window.take(now) {
		h.seen.limited++
		return refusal(http.StatusTooManyRequests, "rate_limited")
	}
	if r.Method != http.MethodGet {
		h.seen.arrivals = append(h.seen.arrivals, now)
	}
	if path == "/auth/refresh" {
		h.seen.refreshes++
		return http.StatusCreated, h.grant(now)
	}
	if !now.Before(h.tokens[r.Header.Get("Authorization")]) {
		h.seen.expired++
		return refusal(http.StatusUnauthorized, "token_expired")
	}
	id, confirm := strings.CutSuffix(strings.TrimPrefix(path, "/payouts/"), "/confirm")
	switch {
	case confirm:
		return h.confirm(id, now)
	case r.Method == http.MethodGet && h.payouts[id] == nil:
		return refusal(http.StatusNotFound, "not_found")
	case r.Method == http.MethodGet:
		h.payouts[id].reads++
		return http.StatusOK, h.payouts[id].text(now)
	}
	return h.book(header(r, "Idempotency-Key"), body, now)
}

func (h *busyHost) grant(now time.Time) string {
	token := fmt.Sprintf("token-%d", h.seen.logins+h.seen.refreshes)
	if h.takesBack {
		clear(h.tokens)
	}
	h.tokens["Bearer "+token] = now.Add(h.tokenLives)
	return fmt.Sprintf(`{"accessToken":%q,"expiresIn":%d,"refreshExpiresIn":5184000,"refreshToken":"refresh",`+
		`"tokenType":"Bearer"}`,
		token, int(h.tokenLives.Seconds()))
}

func (h *busyHost) book(key string, body []byte, now time.Time) (int, string) {
	var asked struct {
		ContactID string `json:"contactId"`
		Amount    string `json:"amount"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return refusal(http.StatusUnprocessableEntity, "validation_failed")
	}
	id := "po_" + key
	if h.payouts[id] == nil {
		h.payouts[id] = &busyPayout{id: id, key: key, contact: asked.ContactID, amount: asked.Amount}
		h.seen.booked = append(h.seen.booked, key)
	}
	payout := h.payouts[id]
	if !payout.paid && !now.Before(payout.closes) {
		payout.closes = now.Add(h.approvalLives).Truncate(time.Millisecond)
	}
	return http.StatusCreated, payout.text(now)
}

func (h *busyHost) confirm(id string, now time.Time) (int, string) {
	payout := h.payouts[id]
	switch {
	case payout.paid:
	case !now.Before(payout.closes):
		h.seen.late++
		return refusal(http.StatusConflict, "funding_attempt_expired")
	default:
		payout.paid = true
		h.seen.paid++
	}
	return http.StatusOK, payout.text(now)
}

func (p *busyPayout) text(now time.Time) string {
	common := fmt.Sprintf(`"amount":%q,"contactId":%q,"createdAt":%q,"currency":"USDC","id":%q,"idempotencyKey":%q`,
		p.amount, p.contact, stamp(now), p.id, p.key)
	switch {
	case p.paid && now.Before(p.completes):
		return `{` + common + `,"status":"processing"}`
	case p.paid:
		return `{` + common + `,"status":"completed"}`
	}
	payload := fmt.Sprintf(`{"account":"self","amount":%q,"approvalId":"ap_1","currency":"USDC",`+
		`"destination":{"contactId":%q},`+
		`"expiresAt":%q,"nonce":"n","operation":"payout.fund","resourceId":%q}`, p.amount, p.contact, stamp(p.closes),
		p.id)
	return fmt.Sprintf(`{%s,"status":"awaiting_approval","approval":{"id":"ap_1","expiresAt":%q,"payload":%q},`+
		`"quote":{"sourceAmount":%q,"sourceCurrency":"USDC","destinationAmount":%q,"destinationCurrency":"USDC",`+
		`"fee":"0","rate":"1","expiresAt":%q}}`,
		common, stamp(p.closes), encoded(payload), p.amount, p.amount, stamp(p.closes))
}

func refusal(status int, code string) (int, string) {
	return status, fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code)
}

// header finds a header however its name is spelled.
func header(r *http.Request, name string) string {
	for spelled, values := range r.Header {
		if strings.EqualFold(spelled, name) {
			return values[0]
		}
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
