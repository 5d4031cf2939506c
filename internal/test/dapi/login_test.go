package dapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// responsePayload makes challenges carry these bytes to sign.
func (w *world) responsePayload(payload []byte) {
	w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
		if r.URL.Path != "/dapi/v1/auth/challenge" {
			return
		}
		body, err := json.Marshal(map[string]any{"challengeId": "ch_1", "payload": payload, "expiresAt": time.Now().
			Add(time.Minute)})
		assert.NoError(w, err)
		inprocess.SetBody(response, body)
	})
}

func TestChallengeThatReadsAsAnApprovalIsNotSigned(t *testing.T) {
	for name, payload := range map[string]string{
		"an approval":      `{"account":"self","amount":"25","approvalId":"apr_1","operation":"payout.fund"}`,
		"only its id":      `{"approvalId":"apr_1"}`,
		"only its verb":    `{"operation":"payout.fund"}`,
		"a hidden name":    `[{"approval\u0049d":"apr_1"}]`,
		"a byte order":     "\ufeff{\"resourceId\":\"po_1\",\"amount\":\"25\"}",
		"nothing":          "",
		"other case":       `{"APPROVALID":"apr_1"}`,
		"a name twice":     `{"purpose":"login","purpose":"login","operation":"payout.fund"}`,
		"not UTF-8":        "{\"nonce\":\"\xff\",\"operation\":\"payout.fund\"}",
		"spaced out":       " \n{ \"operation\" : \"escrow.release\" }\t",
		"beside the login": `{"challengeId":"ch_1","operation":"payout.fund","purpose":"login"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.responsePayload([]byte(payload))
			err := read(t.Context(), w.integrator().Self())
			refused, ok := errors.AsType[*signing.ChallengeRefused](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, "ch_1", refused.ChallengeID)
			assert.Contains(t, err.Error(), `login challenge "ch_1" refused`)
			assert.Zero(t, w.Key.Logins()+w.Key.Approvals(), "the signer is not called")
			assert.Zero(t, w.Sent("CreateToken"))
		})
	}
}

// Rule: login.signs-decoded-bytes, login.challenge-unknown
func TestOtherChallengesAreSignedAsTheyAre(t *testing.T) {
	for name, payload := range map[string]string{
		"a login": `{"challengeId":"ch_1","purpose":"login"}`, "its verb": `{"operation":"login"}`,
		"bytes": "\x00\x01\xff", "text": "sign me in", "a list": `["operation"]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.responsePayload([]byte(payload))
			signed := make(chan []byte, 1)
			integrator := w.integrator(func(d *dapi.Developer) {
				d.Key = signerFunc{w.Key, func(message []byte) { signed <- bytes.Clone(message) }}
			})
			_, unknown := errors.AsType[*errors.ChallengeNotFound](read(t.Context(), integrator.Self()))
			assert.True(t, unknown, "the host does not know this challenge")
			assert.Equal(t, payload, string(<-signed))
		})
	}
}

type signerFunc struct {
	signing.Signer
	before func(message []byte)
}

func (s signerFunc) Sign(ctx context.Context, message []byte) ([]byte, error) {
	s.before(message)
	return s.Signer.Sign(ctx, message)
}

// Rule: login.challenge-once, rate.login-challenge
func TestLostTokenResponseAsksForOneFreshChallenge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lost := w.Host.Arm("POST", "/auth/token", sandbox.DropAfterCommit())
		began := time.Now()
		require.NoError(t, read(t.Context(), w.integrator().Self()))
		assert.Zero(t, time.Since(began), "at once")
		assert.Equal(t, 1, lost.Consumed())
		assert.Equal(t, 2, w.Sent("CreateChallenge"))
		assert.Equal(t, 2, w.Sent("CreateToken"), "a challenge is never used twice")
	})
}

// askedWindows notes what a client asks its limiter.
type askedWindows struct {
	mu    sync.Mutex
	asked []string
}

func (a *askedWindows) Wait(_ context.Context, call moneymovement.RateCall) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, strings.TrimSpace(string(call.Window)+" "+call.Scope))
	return nil
}

// Rule: rate.login-address, rate.login-email, rate.login-challenge, rate.refresh
func TestLoginsAreCountedForAddressEmailAndChallenge(t *testing.T) {
	w := newWorld(t)
	windows := new(askedWindows)
	var challenge struct {
		ChallengeID string `json:"challengeId"`
	}
	w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/auth/challenge") {
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(body, &challenge))
			inprocess.SetBody(response, body)
		}
	})
	platform := w.Integrator(w.Developer(), moneymovement.WithRateLimiter(windows))
	require.NoError(t, read(t.Context(), platform.Self()))
	require.NotEmpty(t, challenge.ChallengeID)
	assert.Equal(t, []string{"login_email " + w.Developer().Email, "login", "login_challenge " + challenge.ChallengeID,
		"login", "reads"},
		windows.asked, "a slot is taken once the token is there to use it")

	w.Host.Advance(61 * time.Minute)
	windows.asked = nil
	require.NoError(t, read(t.Context(), platform.Self()))
	assert.Equal(t, []string{"reads", "writes", "reads"}, windows.asked, "a refresh counts as a write")
}

// A login whose response stays lost moved no money, and the call that needed it was not sent: nothing about that is
// unknown.
func TestTokenResponseLostTwiceMeansNotDelivered(t *testing.T) {
	w := newWorld(t)
	w.Host.Arm("POST", "/auth/token", sandbox.DropAfterCommit().Times(10))
	err := read(t.Context(), w.integrator().Self())
	assert.Equal(t, "ListChains", as[*errors.NotDelivered](t, err).Operation)
	_, inDoubt := errors.AsType[*errors.InDoubt](err)
	assert.False(t, inDoubt)
	assert.Equal(t, 2, w.Sent("CreateToken"))
}

// Rule: login.challenge-expires
func TestChallengeThatExpiredIsReplacedOnce(t *testing.T) {
	for name, late := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			signed := 0
			integrator := w.integrator(func(d *dapi.Developer) {
				d.Key = signerFunc{w.Key, func([]byte) {
					if signed++; signed <= late {
						w.Host.Advance(151 * time.Second) // as if a person had to touch the key
					}
				}}
			})
			err := read(t.Context(), integrator.Self())
			assert.Equal(t, 2, w.Sent("CreateToken"))
			if late == 1 {
				require.NoError(t, err)
				return
			}
			_, expired := errors.AsType[*errors.ChallengeExpired](err)
			assert.True(t, expired, "%v", err)
		})
	}
}

// Rule: login.request-expiry
func TestLoginWithAWrongClock(t *testing.T) {
	t.Run("by little, which the request allows for in both directions", func(t *testing.T) {
		for _, off := range []time.Duration{-149500 * time.Millisecond, 149500 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(off) }))
				require.NoError(t, read(t.Context(), w.integrator().Self()))
				assert.Equal(t, 1, w.Sent("CreateChallenge"), off)
			})
		}
	})
	t.Run("the service tells the time", func(t *testing.T) {
		w := newWorld(t)
		w.Host.Advance(3 * time.Hour)
		require.NoError(t, read(t.Context(), w.integrator().Self()))
		assert.Equal(t, "request_expired", w.Requests("CreateChallenge")[0].Slug)
		assert.Equal(t, 2, w.Sent("CreateChallenge"))
	})
	t.Run("it does not", func(t *testing.T) {
		w := newWorld(t)
		w.Host.Advance(3 * time.Hour)
		w.Wire.OnResponse(func(_ *http.Request, response *http.Response) { response.Header.Del("Date") })
		_, expired := errors.AsType[*errors.RequestExpired](read(t.Context(), w.integrator().Self()))
		assert.True(t, expired)
		assert.Equal(t, 1, w.Sent("CreateChallenge"))
	})
	t.Run("its time does not help", func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", "/auth/challenge", sandbox.Respond(http.StatusBadRequest, "request_expired").Times(10))
		_, expired := errors.AsType[*errors.RequestExpired](read(t.Context(), w.integrator().Self()))
		assert.True(t, expired)
		assert.Equal(t, 2, w.Sent("CreateChallenge"))
	})
}

// Rule: login.bad-signature, login.one-response, login.key-not-registered
func TestRefusedLogins(t *testing.T) {
	stranger, err := signing.GenerateEd25519()
	require.NoError(t, err)
	opaque := sandbox.WithSettings(func(s *sandbox.Settings) { s.OpaqueLogin = true })
	wrongSignature := func(d *dapi.Developer) { d.Key = forger{d.Key} }

	for name, c := range map[string]struct {
		host   []sandbox.Option
		change func(*dapi.Developer)
		want   errors.Code
	}{
		"unknown email": {change: func(d *dapi.Developer) {
			d.Email = "nobody@example.com"
		}, want: errors.CodeInvalidCredentials},
		"bad signature": {change: wrongSignature, want: errors.CodeSignatureInvalid},
		"bad signature, opaquely": {host: []sandbox.Option{opaque}, change: wrongSignature,
			want: errors.CodeInvalidCredentials},
		"another key": {change: func(d *dapi.Developer) {
			d.Key = stranger
		}, want: errors.CodeKeyNotRegistered},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.host...)
			err := read(t.Context(), w.integrator(c.change).Self())
			refusal, ok := errors.AsType[*errors.Refusal](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, c.want, refusal.Code)
			assert.Equal(t, "CreateToken", refusal.Operation)
			assert.Equal(t, 1, w.Sent("CreateToken"), "a judgement is not asked for twice")
			assert.Zero(t, w.Sent("ListChains"))
		})
	}
}

// forger signs something else than it is given.
type forger struct{ signing.Signer }

func (f forger) Sign(ctx context.Context, message []byte) ([]byte, error) {
	return f.Signer.Sign(ctx, append([]byte("not "), message...))
}

// Rule: login.unavailable
func TestLoginThatIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.LoginAvailable = false }))
		account := w.integrator().Self()
		_, unavailable := errors.AsType[*errors.LoginUnavailable](read(t.Context(), account))
		assert.True(t, unavailable)
		w.Configure(func(s *sandbox.Settings) { s.LoginAvailable = true })
		assert.NoError(t, read(t.Context(), account), "a failed login is not remembered")
	})
}

// Everyone who starts at the same time waits for one login, which a moment of outage must not fail.
func TestLoginOutlastsAShortOutage(t *testing.T) {
	for name, tc := range map[string]struct {
		down   int
		header []string
		took   time.Duration // at most
	}{
		"a moment":         {down: 1, took: time.Second},
		"three attempts":   {down: 3, took: 5 * time.Second},
		"until it says so": {down: 1, header: []string{"Retry-After", "40"}, took: 41 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				outage := sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").Times(tc.down)
				if tc.header != nil {
					outage = outage.WithHeader(tc.header[0], tc.header[1])
				}
				w.Host.Arm("POST", "/auth/token", outage)
				account := w.integrator().Self()
				began := time.Now()
				var calls sync.WaitGroup
				for range 50 {
					calls.Go(func() { assert.NoError(t, read(t.Context(), account)) })
				}
				calls.Wait()
				assert.Equal(t, tc.down+1, w.Sent("CreateToken"))
				assert.Equal(t, tc.down+1, w.Sent("CreateChallenge"), "each time with a fresh challenge")
				assert.LessOrEqual(t, time.Since(began), tc.took)
			})
		})
	}
}

func TestLoginGivesUpInALongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", "/auth/token", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			Times(100))
		as[*errors.DatabaseUnavailable](t, read(t.Context(), w.integrator().Self()))
		assert.Equal(t, 4, w.Sent("CreateToken"))

		w = newWorld(t)
		w.Host.Arm("POST", "/auth/token", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			WithHeader("Retry-After", "3600"))
		unavailable := as[*errors.DatabaseUnavailable](t, read(t.Context(), w.integrator().Self()))
		assert.Equal(t, time.Hour, unavailable.RetryAfter)
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

type brokenSigner struct {
	signing.Signer
	err error
}

func (b brokenSigner) Sign(context.Context, []byte) ([]byte, error) { return nil, b.err }

// Rule: session.key-read-again
func TestDeletedKeyStopsItsSessions(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	require.NoError(t, read(t.Context(), account))
	require.NoError(t, w.Host.DeleteKey(w.Host.Credentials().KeyID))

	forbidden, ok := errors.AsType[*errors.Forbidden](read(t.Context(), account))
	require.True(t, ok)
	assert.Empty(t, forbidden.Details, "the service gives no reason")
	assert.Equal(t, 1, w.Sent("CreateToken"), "403 is never a reason to log in again")
}

// Rule: session.scope
func TestKeyWithoutTheScope(t *testing.T) {
	w := newWorld(t)
	key, err := signing.Generate()
	require.NoError(t, err)
	_, err = w.Host.RegisterKey(sandbox.KeyRegistration{
		Email: w.Host.Credentials().Email, PublicKey: key.PublicKey(), Scopes: []string{"read"},
	})
	require.NoError(t, err)
	account := w.integrator(func(d *dapi.Developer) { d.Key = key }).Self()
	require.NoError(t, read(t.Context(), account))
	_, err = account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: wallet()})
	forbidden, ok := errors.AsType[*errors.Forbidden](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "contacts:write", forbidden.RequiredScope)
	assert.Equal(t, []string{"read"}, forbidden.Scope)
}

// Bytes that came as an approval are not signed as a challenge, even if nobody can read them. This holds for all
// accounts of the credential, also if the bytes were only read.
func TestApprovalBytesAreNotSignedAsAChallenge(t *testing.T) {
	opaque := []byte("\x01opaque")
	approval := func(in any) {
		in.(map[string]any)["approval"].(map[string]any)["payload"] = opaque
	}
	escrow := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
		Payee: payee}
	for name, c := range map[string]struct {
		pattern string
		method  string
		place   func(body map[string]any)
		call    func(ctx context.Context, w *payWorld, account *dapi.Account) error
	}{
		"a booking": {"/payouts", "POST", func(body map[string]any) { approval(body) },
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				_, err := account.Payouts.Book(ctx, w.asked)
				return err
			}},
		"a booking of another process": {"", "", nil,
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				_, err := account.Payouts.Confirm(ctx, w.asked, &dapi.Payout{
					ID: "po_1", Approval: &dapi.Approval{ID: "apr_1", Payload: opaque, ExpiresAt: w.Host.Now().
						Add(time.Minute)},
				})
				as[*signing.ApprovalRefused](w.T, err)
				return read(ctx, account) // so that there is a session
			}},
		"a payout that was read": {"/payouts/*", "GET", func(body map[string]any) { approval(body) },
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				booked, err := account.Payouts.Book(ctx, w.asked)
				require.NoError(w, err)
				_, err = account.Payouts.Get(ctx, booked.ID)
				return err
			}},
		"an escrow": {"/escrow", "POST", func(body map[string]any) { approval(body["action"]) },
			func(ctx context.Context, _ *payWorld, account *dapi.Account) error {
				_, err := account.Escrows.Create(ctx, escrow)
				return err
			}},
		"an action": {"/escrow/*/actions", "POST", func(body map[string]any) { approval(body["action"]) },
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				created, err := account.Escrows.Create(ctx, escrow)
				require.NoError(w, err)
				_, err = account.Escrows.Prepare(ctx, created.ID, dapi.EscrowActionTypeApprove)
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			integrator := w.integrator()
			w.account = integrator.Self()
			w.onSuccess(c.method, c.pattern, c.place)
			require.NoError(t, c.call(t.Context(), w, w.account))

			w.responsePayload(opaque)
			w.Host.Reset() // and with it the session
			logins := w.Key.Logins()
			refused := as[*signing.ChallengeRefused](t, read(t.Context(), integrator.For("cl_8fK2")))
			assert.Contains(t, refused.Reason, "an approval")
			assert.Equal(t, logins, w.Key.Logins(), "the signer is not called")
			assert.Zero(t, w.Key.Approvals())

			w.Wire.OnResponse(nil)
			assert.NoError(t, read(t.Context(), integrator.Self()), "a good challenge is signed as before")
		})
	}
}

func TestChallengeVerifierDecides(t *testing.T) {
	no := errors.New("not how my service writes them")
	for name, c := range map[string]struct {
		payload string
		says    error
		refused bool // by the check
	}{
		"it refuses a good one": {payload: "sign me in", says: no},
		"it allows a bad one":   {payload: `{"operation":"payout.fund"}`, refused: true},
		"it agrees":             {payload: "sign me in"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.responsePayload([]byte(c.payload))
			err := read(t.Context(), w.integrator(func(d *dapi.Developer) {
				d.ChallengeVerifier = func(_ context.Context, challenge signing.Challenge, verdict error) error {
					assert.Equal(t, signing.Challenge{ID: "ch_1", Payload: []byte(c.payload)}, challenge)
					assert.Equal(t, c.refused, verdict != nil, "%v", verdict)
					return c.says
				}
			}).Self())
			if c.says != nil {
				as[*signing.ChallengeRefused](t, err)
				require.ErrorIs(t, err, no)
				assert.Zero(t, w.Key.Logins())
				return
			}
			as[*errors.ChallengeNotFound](t, err) // for the host does not know it
			assert.Equal(t, 1, w.Key.Logins())
		})
	}
}

// A signature that was not made is an error with a type: the call was not delivered, and the reason is in it.
func TestLoginThatIsNotSignedHasAType(t *testing.T) {
	w := newWorld(t)
	err := read(t.Context(), w.integrator(func(d *dapi.Developer) { d.Key = brokenSigner{d.Key, context.Canceled} }).
		Self())
	as[*signing.NotSigned](t, err)
	undelivered := as[*errors.NotDelivered](t, err)
	assert.Equal(t, "CreateToken", undelivered.Operation)
	assert.Empty(t, undelivered.IdempotencyKey)
	require.ErrorIs(t, err, context.Canceled)
}

// A developer who knows what a challenge looks like signs nothing else at a login.
func TestLoginThatSignsOnlyChallenges(t *testing.T) {
	for _, purpose := range []string{"login", "payment"} {
		w := newWorld(t)
		account := w.integrator(func(d *dapi.Developer) {
			d.ChallengeVerifier = signing.OnlyChallenges(signing.ChallengeForm{
				"challengeId": "", "email": d.Email, "expiresAt": "", "nonce": "", "purpose": purpose,
			})
		}).Self()
		err := read(t.Context(), account)
		if purpose == "login" {
			require.NoError(t, err, "as the host has it")
			continue
		}
		assert.Contains(t, as[*signing.ChallengeRefused](t, err).Reason, `"purpose"`)
		assert.Zero(t, w.Sent("CreateToken"))
	}
}

// second registers another key of the account, and returns it with a way to delete the first one.
func (w *world) second() (key *testkit.CountingKey, deleteFirst func()) {
	w.Helper()
	fresh, err := signing.Generate()
	require.NoError(w, err)
	_, err = w.Host.RegisterKey(sandbox.KeyRegistration{Email: w.Host.Credentials().Email,
		PublicKey: fresh.PublicKey()})
	require.NoError(w, err)
	return &testkit.CountingKey{Signer: fresh},
		func() { require.NoError(w, w.Host.DeleteKey(w.Host.Credentials().KeyID)) }
}

// funded is an integrator with 100 USDC.
func funded(t *testing.T) (*world, *dapi.Integrator) {
	t.Helper()
	w := newWorld(t)
	integrator := w.integrator()
	w.Credit(integrator.Self().Sandbox, "100", dapi.USDC)
	return w, integrator
}

// tokens notes which token each request carried, by the operation's path.
func (w *world) tokens() (seen func(path string) []string) {
	var mu sync.Mutex
	carried := map[string][]string{}
	w.Wire.OnResponse(func(r *http.Request, _ *http.Response) {
		mu.Lock()
		defer mu.Unlock()
		carried[r.URL.Path] = append(carried[r.URL.Path], r.Header.Get("Authorization"))
	})
	return func(path string) []string {
		mu.Lock()
		defer mu.Unlock()
		return carried["/dapi/v1"+path]
	}
}

func TestPaymentFinishesWithTheKeyThatItBeganWith(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	contact := w.Contact(account.Contacts, wallet())
	next, deleteFirst := w.second()
	seen := w.tokens()
	change := beforeSigning(func(context.Context, *dapi.Payout) error { return integrator.UseKey(next) })

	first, err := account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: contact, Amount: amount("5"), Currency: dapi.USDC}, "first", payTerms(change))
	require.NoError(t, err)
	assert.Equal(t, 1, w.Key.Approvals(), "the key that booked signs the approval")
	require.Len(t, seen("/payouts"), 1)
	assert.Equal(t, seen("/payouts"), seen("/payouts/"+string(first.Payout.ID)+"/confirm"),
		"one session books and confirms")
	assert.Zero(t, next.Logins(), "nothing was sent under the new key")

	deleteFirst()
	second, err := account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: contact, Amount: amount("6"), Currency: dapi.USDC}, "second", dapi.PayTerms{})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Logins())
	assert.Equal(t, 1, next.Approvals(), "the new key signed the approval")
	assert.NotEqual(t, seen("/payouts")[0], seen("/payouts")[1])
	assert.Equal(t, seen("/payouts")[1:], seen("/payouts/"+string(second.Payout.ID)+"/confirm"))
	assert.Equal(t, 2, w.Fundings())
}

// The same key by another signer comes in while calls are under way, which go on in the session that they have.
func TestUseKeyWithTheSameKeyDuringAPayment(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	again := beforeSigning(func(context.Context, *dapi.Payout) error {
		return integrator.UseKey(&testkit.CountingKey{Signer: w.Key.Signer})
	})
	_, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
		ContactID: w.Contact(account.Contacts, wallet()), Amount: amount("5"), Currency: dapi.USDC,
	}, "first", payTerms(again))
	require.NoError(t, err)
	assert.Equal(t, 1, w.Key.Logins())
}

// A payment that waits for longer than its price lives is booked again, and by then its key may be gone.
func TestAPaymentThatIsBookedAgainTakesTheNewKey(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	contact := w.Contact(account.Contacts, wallet())
	next, _ := w.second()
	w.Key.BeforeApproval(func(int) {
		require.NoError(t, integrator.UseKey(next))
		w.Host.Advance(121 * time.Second)
	})
	_, err := account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: contact, Amount: amount("5"), Currency: dapi.USDC}, "slow", dapi.PayTerms{})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Approvals(), "the new key signed what was booked again")
	assert.Equal(t, 1, w.Fundings())
}

func TestEscrowActionFinishesWithTheKeyThatItBeganWith(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	next, deleteFirst := w.second()
	seen := w.tokens()
	w.Key.BeforeApproval(func(int) { require.NoError(t, integrator.UseKey(next)) })
	terms := dapi.EscrowCreate{Amount: amount("5"), Currency: dapi.USDC,
		Payee: payee}
	escrow, err := account.Escrows.Open(t.Context(), terms, "escrow", dapi.EscrowTerms{})
	require.NoError(t, err)
	assert.Equal(t, seen("/escrow"), seen("/escrow/"+string(escrow.Escrow.ID)+"/actions/escrow/confirm"))
	deleteFirst()
	_, err = account.Escrows.Act(t.Context(), terms, escrow.Escrow.ID, dapi.EscrowActionTypeRelease, "release",
		dapi.EscrowTerms{})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Approvals())
	assert.Equal(t, seen("/escrow/"+string(escrow.Escrow.ID)+"/actions"),
		seen("/escrow/"+string(escrow.Escrow.ID)+"/actions/release/confirm"))
}

// A key that comes between the preparation of an action and its signature signs nothing of it.
func TestNewKeyDuringAnEscrowActionSignsTheNext(t *testing.T) {
	w, integrator := funded(t)
	next, _ := w.second()
	w.Wire.OnResponse(func(r *http.Request, _ *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/escrow") {
			assert.NoError(t, integrator.UseKey(next))
		} else if strings.HasSuffix(r.URL.Path, "/actions") {
			assert.NoError(t, integrator.UseKey(w.Key))
		}
	})
	escrows := integrator.Self().Escrows
	opened, err := escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0}, []int{w.Key.Approvals(), next.Approvals()})
	_, err = escrows.Act(t.Context(), newEscrow(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "release-1",
		dapi.EscrowTerms{})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1}, []int{w.Key.Approvals(), next.Approvals()})
}

// A write that shows nothing is followed by a read in the session of the write, whatever key came between.
func TestReadAfterAWriteKeepsItsSession(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	payment, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
		ContactID: w.Contact(account.Contacts, wallet()), Amount: amount("5"), Currency: dapi.USDC,
	}, "first", dapi.PayTerms{})
	require.NoError(t, err)
	next, _ := w.second()
	var carried []string
	w.Wire.OnResponse(func(r *http.Request, _ *http.Response) {
		carried = append(carried, r.Header.Get("Authorization"))
		if r.Method == http.MethodPost {
			assert.NoError(t, integrator.UseKey(next))
		}
	})
	w.Host.Arm("POST", "/sandbox/payouts/*/status", sandbox.Respond(http.StatusNoContent, "").AfterCommit())
	moved, err := account.Sandbox.SetPayoutStatus(t.Context(), payment.Payout.ID, dapi.PayoutStatusFailed)
	require.NoError(t, err)
	assert.Equal(t, dapi.PayoutStatusFailed, moved.Status)
	require.Len(t, carried, 2)
	assert.Equal(t, carried[0], carried[1])
	assert.Zero(t, next.Logins())
}

func TestNewKeyAppliesToAllAccounts(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	client, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "client@example.com"})
	require.NoError(t, err)
	theirs, own := integrator.For(client.ID), integrator.Self()
	next, deleteFirst := w.second()
	require.NoError(t, theirs.UseKey(next))
	deleteFirst()
	for _, account := range []*dapi.Account{theirs, own, integrator.For(client.ID)} {
		require.NoError(t, read(t.Context(), account))
	}
	_, err = integrator.Clients.Get(t.Context(), client.ID)
	require.NoError(t, err)
	assert.Equal(t, 1, next.Logins(), "one login serves them all")
}

func TestInvalidKeyChangesNothing(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	for _, key := range []signing.Signer{nil, &signing.DeveloperKey{}} {
		for _, use := range []func(signing.Signer) error{integrator.UseKey, integrator.Self().UseKey} {
			var refused *errors.InvalidInput
			require.ErrorAs(t, use(key), &refused)
			assert.Equal(t, "UseKey", refused.Operation)
			assert.Equal(t, "key", refused.Fields[0].Field)
		}
	}
	require.NoError(t, read(t.Context(), integrator.Self()))
	assert.Equal(t, 1, w.Key.Logins())
}

// A program can hand in its key whenever its configuration is read.
func TestTheSameKeyKeepsItsSession(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	other := &testkit.CountingKey{Signer: w.Key.Signer}
	for _, key := range []signing.Signer{w.Key, other, w.Key} {
		require.NoError(t, read(t.Context(), integrator.Self()))
		require.NoError(t, integrator.UseKey(key))
	}
	assert.Equal(t, 1, w.Sent("CreateToken"))
}

// A store of sessions goes along: the new key does not act in the session of the old one, and its own is kept.
func TestTheStoreTakesTheSessionOfTheNewKey(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	integrator := w.integrator(stored(store))
	require.NoError(t, read(t.Context(), integrator.Self()))
	before, err := store.Load(t.Context())
	require.NoError(t, err)
	next, _ := w.second()
	require.NoError(t, integrator.UseKey(next))
	require.NoError(t, read(t.Context(), integrator.Self()))
	after, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, before.Credential, after.Credential)
	assert.False(t, before.AccessToken.Equal(after.AccessToken))
}

// Callers at work while keys change notice nothing, as long as both are registered.
func TestKeysChangeUnderLoad(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	next, _ := w.second()
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 20 {
				assert.NoError(t, read(t.Context(), integrator.Self()))
			}
		})
	}
	for i := range 20 {
		require.NoError(t, integrator.UseKey([]signing.Signer{next, w.Key}[i%2]))
	}
	callers.Wait()
}
