package contract_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// world is a host with a client of each surface. T is the test that is running.
type world struct {
	*testing.T
	suite         *suite
	host          *sandbox.Host // nil: a real host
	baseURL       string
	email         string
	key           *signing.DeveloperKey
	wallet        *wallet.Key       // nil: not given
	direct        http.RoundTripper // observed, and past any proxy
	apiKey, token moneymovement.Secret

	platform  *dapi.Integrator
	app       *appapi.Client // nil: no credential is given
	reference *refapi.Client // nil: no credential is given
	public    *public.Client

	flowName string
	broken   string  // the step of the flow that did not succeed
	because  *string // the running step is skipped, if it is
	spent    int     // amounts given out
	filtered bool    // go test -run left a step out

	held     *session      // of a real host
	client   dapi.ClientID // made by one flow, used by others
	contract string
	invoice  string
	card     string
	quote    string
}

// open makes the clients of each surface, for the real host or for a new embedded one. change is in front of that one,
// if it is given.
func (s *suite) open(t *testing.T, change func(http.RoundTripper) http.RoundTripper) *world {
	t.Helper()
	w := &world{T: t, suite: s}
	var options []moneymovement.Option
	if s.real != nil {
		w.baseURL, w.email, w.key, w.wallet = s.real.BaseURL.String(), s.real.Email, s.real.Key, s.real.CardWallet
		w.direct = &report.Observer{Next: s.guarded(t), Log: s.log}
		options = append(options, moneymovement.WithHTTPClient(&http.Client{Transport: w.direct}),
			moneymovement.WithRetries(s.retries))
		w.apiKey, w.token = s.real.APIKey, s.real.AccessToken
	} else {
		// Its clock stands until the suite moves it, and its own check of its responses is on, so that a host that errs
		// is not taken for the service.
		embedded := worlds.Serve(t, worlds.FrozenClock())
		credentials := embedded.Host.Credentials()
		w.host, w.baseURL, w.email, w.key, w.wallet = embedded.Host, embedded.URL, credentials.Email, credentials.Key,
			credentials.Wallet
		w.apiKey, w.token = moneymovement.NewSecret(credentials.APIKey.Reveal()),
			moneymovement.NewSecret(credentials.AccessToken.Reveal())
		through := way(t)
		w.direct = http.DefaultTransport
		if change != nil {
			through, w.direct = change(through), change(w.direct)
		}
		w.direct = &report.Observer{Next: w.direct, Log: s.log}
		options = append(options,
			moneymovement.WithHTTPClient(&http.Client{Transport: &report.Observer{Next: through, Log: s.log}}),
			moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}), moneymovement.WithoutPacing())
	}
	var err error
	w.platform, err = dapi.NewIntegrator(w.baseURL, dapi.Developer{Email: w.email, Key: w.key}, options...)
	require.NoError(t, err)
	if target.IsSet(w.apiKey) {
		w.app, err = appapi.New(w.baseURL, appapi.NewAPIKey(w.apiKey.Reveal()), options...)
		require.NoError(t, err)
	}
	if target.IsSet(w.token) {
		w.reference, err = refapi.New(w.baseURL,
			refapi.Credential{AccessToken: refapi.NewAccessToken(w.token.Reveal())}, options...)
		require.NoError(t, err)
	}
	w.public, err = public.New(w.baseURL, options...)
	require.NoError(t, err)
	return w
}

// requireSandbox asks for the treasury, which only a sandbox has. The guard in front of a real host lets nothing pass
// before. A response must state the limit of a credit, or it does not come from a treasury.
func (w *world) requireSandbox() {
	w.Helper()
	treasury, err := w.platform.Self().Sandbox.Treasury(w.Context())
	require.NoError(w, err, "the host does not show that it is a sandbox; nothing was written there")
	require.True(w, treasury.MaxCredit.IsPositive(),
		"the host does not show that it is a sandbox: its treasury names no maxCredit; nothing was written there")
}

func (w *world) flow(t *testing.T, f flow) {
	if w.suite.real != nil && f.needs != nil {
		if missing := f.needs(w.suite.real); missing != "" {
			w.suite.skip(f.name, "all", "needs "+missing)
			t.Skip("needs " + missing +
				"; make contract without MONEYMOVEMENT_BASE_URL runs it against the embedded host")
		}
	}
	outer := w.T
	w.T, w.flowName, w.broken = t, f.name, ""
	defer func() { w.T = outer }()
	f.run(w)
}

// step runs a case of the flow. The cases after one that did not succeed would miss what it makes; they are skipped.
func (w *world) step(name string, run func()) {
	w.Helper()
	outer := w.T
	defer func() { w.T = outer }()
	c := report.Case{Flow: w.flowName, Name: name, Outcome: report.Failed}
	started, ran := time.Now(), false
	outer.Run(name, func(t *testing.T) {
		w.T, ran = t, true
		defer func() {
			switch {
			case t.Skipped():
				c.Outcome = report.Skipped
			case !t.Failed():
				c.Outcome = report.Passed
			}
		}()
		if w.broken != "" {
			c.Reason = "comes after " + w.broken
			t.Skip("needs the step before it, " + w.broken +
				", which did not succeed; it runs in make contract once that does")
		}
		w.because = &c.Reason
		run()
	})
	c.Took = time.Since(started)
	if c.Outcome != report.Passed && w.broken == "" {
		w.broken = name
	}
	if !ran {
		w.filtered = true
		return
	}
	w.suite.Cases = append(w.suite.Cases, c)
}

// embedded is a step that moves the host's clock or settings, which only the embedded host lets it.
func (w *world) embedded(name string, run func()) {
	w.Helper()
	if w.host == nil {
		w.Run(name, func(t *testing.T) {
			t.Skip(report.NeedsEmbedded + "; make contract without MONEYMOVEMENT_BASE_URL runs it")
		})
		w.suite.skip(w.flowName, name, report.NeedsEmbedded)
		return
	}
	w.step(name, run)
}

// pass lets the host's time pass until what takes a moment has happened. A real host takes its own time; what waits for
// it polls.
func (w *world) pass() {
	if w.host != nil {
		w.host.Advance(time.Minute)
	}
}

// soon bounds a wait for the host.
func (w *world) soon() context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	w.Cleanup(cancel)
	return ctx
}

// sum is an amount to move: little, and further than 0.20 from any other of the run, for the service tells returned
// money apart by its amount. Source: Limits, Sandbox.
func (w *world) sum() decimal.Decimal {
	w.spent++
	return decimal.New(100+25*int64(w.spent-1), -2)
}

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// ok unwraps a call that has to succeed. On a real host, a refusal for reasons of the account's own is not a failure:
// the case is skipped, and says which.
func ok[T any](value T, err error) func(*world) T {
	return func(w *world) T {
		w.Helper()
		w.succeeds(err)
		return value
	}
}

func (w *world) succeeds(err error) {
	w.Helper()
	if refusal, is := errors.AsType[*errors.Refusal](err); is && w.host == nil {
		*w.because = "the host refused: " + string(refusal.Code)
		w.Skip(*w.because)
	}
	require.NoError(w, err)
}

// claim tells the report of an assumption that the test itself has seen confirmed or contradicted.
func (w *world) claim(file, where, aspect string, confirmed bool, operation, seen string) {
	w.suite.claims = append(w.suite.claims, report.Claim{
		File: file, Where: where, Aspect: aspect, Confirmed: confirmed, Operation: operation, Seen: seen,
	})
}

type (
	object = target.Object
	reply  = target.Reply
)

// session is a login by hand: what the SDK would refuse to send, such as a misspelled id, goes this way.
type session struct {
	*world
	access, refresh string
	acting          string // a client
}

// session logs in. On a real host that is done once, for logins have a narrow window. Source: Limits, Rate windows.
func (w *world) session() *session {
	w.Helper()
	if w.held != nil {
		return &session{world: w, access: w.held.access, refresh: w.held.refresh}
	}
	s := &session{world: w}
	granted, err := w.caller().LogIn(w.Context(), w.email, w.key, w.now())
	require.NoError(w, err)
	s.access, s.refresh = granted.Access, granted.Refresh
	if w.host == nil {
		w.held = s
	}
	return s
}

func (w *world) now() time.Time {
	if w.host != nil {
		return w.host.Now()
	}
	return time.Now()
}

// challenge starts a login that lasts so long.
func (s *session) challenge(email string, lifetime time.Duration) reply {
	s.Helper()
	return s.came(s.caller().Challenge(s.Context(), email, s.now().Add(lifetime)))
}

func (s *session) complete(challenge reply) reply {
	s.Helper()
	return s.came(s.caller().Complete(s.Context(), s.key, challenge))
}

func (s *session) sign(payload []byte) string {
	s.Helper()
	signature, err := s.key.Sign(s.Context(), payload)
	require.NoError(s, err)
	return base64.StdEncoding.EncodeToString(signature)
}

// send makes a call of the platform API. A string or bytes are sent as they are.
func (s *session) send(method, path string, body any, headers ...string) reply {
	s.Helper()
	if s.access != "" {
		headers = append([]string{"Authorization", "Bearer " + s.access}, headers...)
	}
	if s.acting != "" {
		headers = append([]string{"X-Service-Account", s.acting}, headers...)
	}
	return s.plain(method, "/dapi/v1"+path, body, headers...)
}

// plain makes a call without a credential.
func (w *world) plain(method, path string, body any, headers ...string) reply {
	w.Helper()
	return w.came(w.caller().Send(w.Context(), method, path, body, headers...))
}

// deliver sends a request past the SDK, and past any proxy: what it sends may be wrong on purpose.
func (w *world) deliver(request *http.Request) reply {
	w.Helper()
	return w.came(w.caller().Deliver(request))
}

func (w *world) caller() *target.Caller { return &target.Caller{BaseURL: w.baseURL, Next: w.direct} }

// came unwraps a response that has to arrive.
func (w *world) came(r reply, err error) reply {
	w.Helper()
	require.NoError(w, err)
	return r
}

// unique is a key that no other run has.
func (w *world) unique(what string) string { return what + "-" + hex.EncodeToString(randomBytes(8)) }

func (w *world) uniqueKey(what string) moneymovement.Key { return moneymovement.Key(w.unique(what)) }

// address is a wallet that nobody has.
func (w *world) address() string { return "0x" + hex.EncodeToString(randomBytes(20)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// needs skips a case that the account is not set up for.
func (w *world) needs(there bool, what string) {
	w.Helper()
	if there {
		return
	}
	require.Nil(w, w.host, "the embedded host misses %s", what)
	*w.because = "needs " + what
	w.Skip(*w.because)
}
