package dapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/signing"
)

func (h *busyHost) integrator(t *testing.T, options ...moneymovement.Option) *dapi.Integrator {
	t.Helper()
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	return h.integratorWith(t, key, options...)
}

// integratorWith is for a synctest bubble, in which a renewal of the token may still be under way at a test's end.
func (h *busyHost) integratorWith(
	t *testing.T, key signing.Signer, options ...moneymovement.Option,
) *dapi.Integrator {
	t.Helper()
	t.Cleanup(func() { time.Sleep(3 * time.Minute) })
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		append(options, moneymovement.WithHTTPClient(&http.Client{Transport: h}))...)
	require.NoError(t, err)
	return integrator
}

// journaled are terms with which a payment that this program does not know is a first use.
var journaled = dapi.PayTerms{Journal: func(context.Context, dapi.History) error { return nil }}

func payoutOf(number int) dapi.PayoutCreate {
	return dapi.PayoutCreate{ContactID: "ct_bob", Amount: amount(fmt.Sprintf("%d.25", number+1)), Currency: dapi.USDC}
}

// As many payments as there are lines in a payroll, started at once, are all paid at the first try of each call, and
// use the window that the service gives. It takes hours of the bubble's clock, over which tokens expire.
func TestPaymentsThatStartAtOnceAreAllPaid(t *testing.T) {
	count := testkit.Size(1200, 10_000)
	for name, windows := range map[string][2]counter{
		"fixed windows":   {&fixedWindow{most: 120}, &fixedWindow{most: 600}},
		"sliding windows": {&slidingWindow{most: 120}, &slidingWindow{most: 600}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newBusyHost(windows[0], windows[1])
				if !testkit.Soak() {
					host.tokenLives = 10 * time.Minute // so that they expire in a shorter run as well
				}
				account := host.integrator(t).Self()
				began := time.Now()
				var all sync.WaitGroup
				for i := range count {
					all.Go(func() {
						payment, err := account.Payouts.Pay(t.Context(), payoutOf(i),
							moneymovement.Key(fmt.Sprint("line-", i)), dapi.PayTerms{})
						if !assert.NoError(t, err) {
							return
						}
						_, err = account.Payouts.Get(t.Context(), payment.Payout.ID)
						assert.NoError(t, err)
					})
				}
				all.Wait()
				took := time.Since(began)
				t.Logf("%d payments took %v, %.2f%% of the window, %d refreshes", count, took.Round(time.Second),
					100*host.used(120), host.counts().refreshes)

				assert.Equal(t, count, host.counts().paid)
				assert.Zero(t, host.counts().limited, "requests over a window")
				assert.Zero(t, host.counts().late, "confirms after their approval")
				assert.Equal(t, 1, host.counts().logins)
				assert.GreaterOrEqual(t, host.counts().refreshes, int(took/host.tokenLives))
				assert.Zero(t, host.counts().expired, "calls with a token that was over")
				seen := host.counts()
				assert.Equal(t, 2*count+seen.refreshes, len(seen.arrivals), "two writes a payment") //nolint:testifylint // Len prints them all
				assert.GreaterOrEqual(t, host.used(120), 0.98)
			})
		})
	}
}

// used is which part of the window the writes used, over as many whole windows as they filled.
func (h *busyHost) used(most int) float64 {
	in := h.counts().arrivals
	whole := (len(in) - 1) / most * most
	return float64(whole) / float64(most) * float64(time.Minute) / float64(in[whole].Sub(in[0]))
}

// bookOne books one of many payments.
func bookOne(t *testing.T, payouts *dapi.Payouts, number int) *dapi.Payout {
	t.Helper()
	payout, err := payouts.Book(t.Context(), payoutOf(number),
		moneymovement.IdempotencyKey(moneymovement.Key(fmt.Sprint(number))))
	assert.NoError(t, err)
	return payout
}

// payOne makes one of many payments.
func payOne(t *testing.T, account *dapi.Account, number int) {
	t.Helper()
	_, err := account.Payouts.Pay(t.Context(), payoutOf(number), moneymovement.Key(fmt.Sprint(number)), dapi.PayTerms{})
	assert.NoError(t, err)
}

// Payments are booked in the order of their calls.
func TestPaymentsAreBookedInCallOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 400 {
			all.Go(func() { payOne(t, account, i) })
			synctest.Wait()
		}
		all.Wait()
		require.Len(t, host.counts().booked, 400)
		for at, key := range host.counts().booked {
			number, err := strconv.Atoi(key)
			require.NoError(t, err)
			assert.InDelta(t, number, at, 120, "but for those that are on their way at the same time")
		}
	})
}

// A payment that cannot meet its deadline is refused before anything is booked.
func TestPaymentThatCannotMeetItsDeadlineIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 300 {
			all.Go(func() { payOne(t, account, i) })
		}
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		_, err := account.Payouts.Pay(ctx, payoutOf(1), "late", journaled)
		undelivered := as[*errors.NotDelivered](t, err)
		assert.Equal(t, "late", undelivered.IdempotencyKey)
		assert.Greater(t, time.Until(undelivered.RetryAt), 2*time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "told at once")

		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		_, err = account.Payouts.Pay(ctx, payoutOf(1), "stopped", journaled)
		require.ErrorIs(t, err, context.Canceled)
		as[*errors.NotDelivered](t, err)
		all.Wait()
		assert.NotContains(t, host.counts().booked, "late")
		assert.NotContains(t, host.counts().booked, "stopped")
	})
}

// signedAt notes when approvals are signed.
type signedAt struct {
	signing.Signer
	mu sync.Mutex
	at []time.Time
}

func (s *signedAt) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if bytes.Contains(message, []byte("approvalId")) {
		s.mu.Lock()
		s.at = append(s.at, time.Now())
		s.mu.Unlock()
	}
	return s.Signer.Sign(ctx, message)
}

// A signed confirm never waits: its room in the window is reserved before the signer is called.
func TestApprovalIsSignedOnlyWithRoomInTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		key, err := signing.GenerateEd25519()
		require.NoError(t, err)
		signer := &signedAt{Signer: key}
		payouts := host.integratorWith(t, signer).Self().Payouts
		began := time.Now()
		booked := bookOne(t, payouts, 0)
		for i := range 119 {
			bookOne(t, payouts, i+1)
		}
		require.Less(t, time.Since(began), time.Minute, "the window is full")
		var response moneymovement.Response
		_, err = payouts.Confirm(t.Context(), payoutOf(0), booked, moneymovement.CaptureResponse(&response))
		require.NoError(t, err)
		require.Len(t, signer.at, 1)
		assert.Less(t, time.Since(signer.at[0]), time.Second)
		assert.GreaterOrEqual(t, signer.at[0].Sub(began), 61*time.Second)
		assert.Greater(t, response.Queued, 30*time.Second)
		assert.Zero(t, host.counts().limited)
	})
}

// An approval that expires before the window has room for its confirm is not signed. The payment is booked again later.
func TestApprovalThatExpiresWhileTheWindowIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.approvalLives = 30 * time.Second
		payouts := host.integrator(t).Self().Payouts
		var all sync.WaitGroup
		for i := range 119 {
			all.Go(func() { bookOne(t, payouts, i) })
		}
		all.Wait()
		last := bookOne(t, payouts, 119)
		began := time.Now()
		_, err := payouts.Confirm(t.Context(), payoutOf(119), last)
		refused := as[*signing.ApprovalRefused](t, err)
		assert.True(t, refused.Expired)
		assert.Equal(t, "expiresAt", refused.Field)
		assert.Equal(t, last.Approval.ID, refused.ApprovalID)
		assert.Zero(t, time.Since(began), "told at once")

		paid, err := payouts.Pay(t.Context(), payoutOf(119), "119", dapi.PayTerms{})
		require.NoError(t, err)
		assert.Equal(t, last.ID, paid.Payout.ID)
		assert.Zero(t, host.counts().late)
	})
}

// If a confirm is refused for its token, and the window has no room to repeat it before its approval expires, the
// payment is booked again.
func TestLateConfirmIsBookedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.approvalLives = 30 * time.Second
		payouts := host.integrator(t).Self().Payouts
		asked := 0
		fill := func(context.Context, *dapi.Payout) error {
			if asked++; asked > 1 {
				return nil
			}
			var all sync.WaitGroup
			for i := range 117 { // with the booking, its confirm and the refresh behind it, these fill the window
				all.Go(func() { bookOne(t, payouts, i+1) })
			}
			all.Wait()
			host.mu.Lock()
			defer host.mu.Unlock()
			clear(host.tokens)
			return nil
		}
		began := time.Now()
		_, err := payouts.Pay(t.Context(), payoutOf(0), "0", dapi.PayTerms{BeforeSigning: fill})
		require.NoError(t, err)
		assert.Equal(t, []int{1, 1, 2}, []int{host.counts().paid, host.counts().expired, asked})
		assert.Greater(t, time.Since(began), 30*time.Second)
	})
}

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
	status, response := h.serve(r, body, time.Now())
	travel()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		ContentLength: int64(len(response)),
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(response)),
	}, nil
}

// travel takes the 20 to 100 ms that a request, or a response, is on its way.
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

// Independent clients, each with its share, stay within the stated windows together, and confirm each payment before
// its approval expires.
func TestClientsWithRateSharesStayWithinTheWindows(t *testing.T) {
	for name, windows := range map[string]func() (writes, reads counter){
		"fixed windows": func() (writes, reads counter) {
			return &fixedWindow{most: 120}, &fixedWindow{most: 600}
		},
		"sliding windows": func() (writes, reads counter) {
			return &slidingWindow{most: 120}, &slidingWindow{most: 600}
		},
	} {
		for _, clients := range []int{2, 7, 120} {
			t.Run(fmt.Sprint(name, ", ", clients, " clients"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					host := newBusyHost(windows())
					var all sync.WaitGroup
					for i := range clients {
						account := host.integrator(t, moneymovement.WithRateShare(clients)).Self()
						for n := range 480 / clients {
							all.Go(func() { payOne(t, account, 1000*i+n) })
							all.Go(func() {
								for range 5 {
									_, err := account.Payouts.Get(t.Context(), "po_none")
									as[*errors.NotFound](t, err)
								}
							})
						}
					}
					all.Wait()
					assert.Equal(t, 480/clients*clients, host.counts().paid)
					assert.Zero(t, host.counts().limited, "requests over a window")
					assert.Zero(t, host.counts().late, "confirms after their approval")
				})
			})
		}
	}
}

// Without shares, two clients exceed the windows.
func TestClientsWithoutRateSharesExceedTheWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		var all sync.WaitGroup
		for i := range 2 {
			account := host.integrator(t).Self()
			for n := range 120 {
				all.Go(func() { _, _ = account.Payouts.Book(t.Context(), payoutOf(1000*i+n)) })
			}
		}
		all.Wait()
		assert.NotZero(t, host.counts().limited)
	})
}

// A share also limits the payments between booking and confirm, even if the client does not limit the rate itself.
func TestMaxInFlightWithARateShare(t *testing.T) {
	for name, c := range map[string]struct {
		options []moneymovement.Option
		want    int
	}{
		"no share":                     {nil, 108},
		"the share of one":             {[]moneymovement.Option{moneymovement.WithRateShare(1)}, 108},
		"half":                         {[]moneymovement.Option{moneymovement.WithRateShare(2)}, 54},
		"of more than there are calls": {[]moneymovement.Option{moneymovement.WithRateShare(1000)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newBusyHost(&slidingWindow{most: 1000}, &slidingWindow{most: 1000})
				account := host.integrator(t, append(c.options, moneymovement.WithoutPacing())...).Self()
				ctx, cancel := context.WithCancel(t.Context())
				var mu sync.Mutex
				booked := 0
				hold := dapi.PayTerms{BeforeSigning: func(ctx context.Context, _ *dapi.Payout) error {
					mu.Lock()
					booked++
					mu.Unlock()
					<-ctx.Done()
					return ctx.Err()
				}}
				var all sync.WaitGroup
				for n := range 200 {
					all.Go(func() {
						_, err := account.Payouts.Pay(ctx, payoutOf(n), moneymovement.Key(fmt.Sprint(n)), hold)
						assert.Error(t, err)
					})
				}
				time.Sleep(time.Minute)
				mu.Lock()
				assert.Equal(t, c.want, booked)
				mu.Unlock()
				cancel()
				all.Wait()
			})
		})
	}
}

func TestInvalidRateShareIsRefused(t *testing.T) {
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	for _, n := range []int{0, -1} {
		_, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
			moneymovement.WithRateShare(n))
		require.ErrorContains(t, err, "New: invalid input: WithRateShare must be at least 1")
		as[*errors.InvalidInput](t, err)
		_, err = appapi.New(baseURL, appapi.NewAPIKey("key"), moneymovement.WithRateShare(n))
		as[*errors.InvalidInput](t, err)
	}
}
