package dapi_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// provocation is a call that the service refuses with a slug, and what the caller then has in hand. What the SDK would
// not send, such as an id of another namespace, is spoiled on its way.
type provocation struct {
	provoke func(w *payWorld) error
	is      func(t *testing.T, err error)
}

// yields demands that an error is of the slug's own type, with its details.
func yields[E error](check ...func(t *testing.T, found E)) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		t.Helper()
		found := as[E](t, err)
		for _, c := range check {
			c(t, found)
		}
	}
}

// spoil changes the requests to a path on their way.
func (w *payWorld) spoil(path string, change func(*http.Request)) {
	next := w.Wire.Handler
	w.Wire.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dapi/v1"+path) {
			change(r)
		}
		next.ServeHTTP(answer, r)
	})
}

func (w *payWorld) spoilHeader(name, value string) error {
	w.spoil("/chains", func(r *http.Request) { r.Header.Set(name, value) })
	return read(w.Context(), w.account)
}

func (w *payWorld) set(change func(*sandbox.Settings), call func() error) error {
	w.Configure(change)
	return call()
}

func (w *payWorld) scripted(status int, slug string) error {
	w.Host.Arm("GET", "/chains", sandbox.Respond(status, slug).Times(10))
	return read(w.Context(), w.account)
}

// readAs logs in anew, and reads.
func (w *payWorld) readAs(change ...func(*dapi.Developer)) error {
	return read(w.Context(), w.integrator(change...).Self())
}

func (w *payWorld) deposit(value string) error {
	_, err := w.account.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount(value), Currency: dapi.USDC})
	return err
}

// client is a new client of the integrator.
func (w *payWorld) client() *dapi.Account {
	integrator := w.integrator()
	created, err := integrator.Clients.Create(w.Context(), dapi.ClientCreate{Email: "acme@example.com"})
	require.NoError(w, err)
	return integrator.For(created.ID)
}

// readyClient is one with a wallet.
func (w *payWorld) readyClient() *dapi.Account {
	client := w.client()
	w.Host.Advance(time.Second)
	return client
}

// control calls the host's own key management, which the description shows no SDK call for.
func (w *payWorld) control(method, path, body string) error {
	host := sandbox.New(sandbox.WithControl(), sandbox.WithDeveloperKey(w.Host.Credentials().Key))
	request := httptest.NewRequest(method, w.URL+"/_host"+path, strings.NewReader(body))
	request.RemoteAddr = "127.0.0.1:4000"
	recorder := httptest.NewRecorder()
	host.ServeHTTP(recorder, request)
	return errors.Decode(errors.Response{CallInfo: errors.CallInfo{Operation: "control"}, Status: recorder.Code,
		Header: recorder.Header(), Body: recorder.Body.Bytes()})
}

// adviceOn returns what the host's controls advise about the last request that was refused with a code, or "".
func (w *payWorld) adviceOn(code errors.Code) string {
	w.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/_host/requests", http.NoBody)
	request.RemoteAddr = "127.0.0.1:1"
	w.Host.ServeHTTP(recorder, request)
	require.Equal(w, http.StatusOK, recorder.Code, "%s", recorder.Body)
	var list struct {
		Items []struct {
			Slug string `json:"slug"`
			Do   string `json:"do"`
		} `json:"items"`
	}
	require.NoError(w, json.Unmarshal(recorder.Body.Bytes(), &list))
	for _, entry := range slices.Backward(list.Items) {
		if entry.Slug == string(code) {
			return entry.Do
		}
	}
	return ""
}

// Every code of the catalogue: a request that provokes it, its status and details, its Go type.
// Rule: slug.*, login.mode, session.platform-token, error.fields, error.location, error.request-id
func TestEverySlugArrivesAsItsType(t *testing.T) {
	all := map[errors.Code]provocation{}
	for _, part := range []map[errors.Code]provocation{requestSlugs, sessionSlugs, moneySlugs} {
		for code, p := range part {
			require.NotContains(t, all, code)
			all[code] = p
		}
	}
	assert.ElementsMatch(t, errors.Codes(), slices.Collect(maps.Keys(all)), "the catalogue, and what is provoked")
	for code, p := range all {
		t.Run(string(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t, sandbox.WithControl())
				err := p.provoke(w)
				refusal := as[*errors.Refusal](t, err)
				assert.Equal(t, code, refusal.Code)
				assert.Equal(t, code.Status(), refusal.Status)
				assert.NotEmpty(t, refusal.Message)
				assert.NotEmpty(t, refusal.Operation)
				p.is(t, err)
				if slices.Contains([]errors.Code{errors.CodeForbidden, errors.CodeRateLimited}, code) {
					return // its error knows more than the host's console: the scopes, and until when to wait
				}
				if advice := w.adviceOn(code); advice != "" {
					assert.Contains(t, err.Error(), advice, "the host and the error advise the same")
				}
			})
		})
	}
}

var requestSlugs = map[errors.Code]provocation{
	errors.CodeInvalidRequest: {func(w *payWorld) error {
		_, err := w.account.Contacts.Create(w.Context(), dapi.ContactCreate{Name: "of no destination"})
		return err
	}, yields[*errors.InvalidRequest]()},
	errors.CodeValidationFailed: {func(w *payWorld) error {
		w.spoil("/chains", func(r *http.Request) { r.URL.RawQuery = "limit=0" })
		return read(w.Context(), w.account)
	}, yields(func(t *testing.T, e *errors.ValidationFailed) {
		assert.Equal(t, "query", e.Location)
		require.Len(t, e.Fields, 1)
		assert.Equal(t, "limit", e.Fields[0].Field)
		assert.Equal(t, "greater_than_equal", e.Fields[0].Code)
	})},
	errors.CodeInvalidCursor: {func(w *payWorld) error {
		_, err := w.account.Transactions.List(w.Context(), dapi.ListTransactionsParams{Cursor: "made-up"})
		return err
	}, yields[*errors.InvalidCursor]()},
	errors.CodeInvalidID: {func(w *payWorld) error {
		w.spoil("/payouts/", func(r *http.Request) { r.URL.Path = "/dapi/v1/payouts/ct_1" })
		_, err := w.account.Payouts.Get(w.Context(), "po_1")
		return err
	}, yields(func(t *testing.T, e *errors.InvalidID) { assert.Equal(t, "po_", e.ExpectedPrefix) })},
	errors.CodeIdempotencyKeyInvalid: {func(w *payWorld) error {
		w.spoil("/payouts", func(r *http.Request) { r.Header.Set("Idempotency-Key", "in voice") })
		_, err := w.account.Payouts.Book(w.Context(), w.asked)
		return err
	}, yields[*errors.IdempotencyKeyInvalid]()},
	errors.CodeIdempotencyKeyReused: {func(w *payWorld) error {
		_, err := w.account.Payouts.Book(w.Context(), w.asked, key42)
		require.NoError(w, err)
		w.asked.Amount = amount("24")
		_, err = w.integrator().Self().Payouts.Book(w.Context(), w.asked, key42)
		return err
	}, yields(func(t *testing.T, e *errors.IdempotencyKeyReused) { assert.Regexp(t, "^po_", e.PayoutID) })},
	errors.CodeNotFound: {func(w *payWorld) error {
		_, err := w.account.Payouts.Get(w.Context(), "po_1")
		return err
	}, yields[*errors.NotFound]()},
	errors.CodeMethodNotAllowed: {func(w *payWorld) error {
		w.spoil("/chains", func(r *http.Request) { r.Method = http.MethodDelete })
		return read(w.Context(), w.account)
	}, yields[*errors.MethodNotAllowed]()},
	errors.CodeConflict: {func(w *payWorld) error {
		_, err := w.readyClient().Verification.Complete(w.Context())
		return err
	}, yields[*errors.Conflict]()},
	// The description names no request that is answered with these two.
	errors.CodeGone: {func(w *payWorld) error {
		return w.scripted(http.StatusGone, "gone")
	}, yields[*errors.Gone]()},
	errors.CodeInternalError: {func(w *payWorld) error {
		return w.scripted(http.StatusInternalServerError, "internal_error")
	}, yields(hasRequestID[*errors.InternalError])},
	errors.CodePayloadTooLarge: {func(w *payWorld) error {
		w.spoil("/payouts", func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat(" ", 1<<20+1)))
		})
		_, err := w.account.Payouts.Book(w.Context(), w.asked)
		return err
	}, yields[*errors.PayloadTooLarge]()},
	errors.CodeRateLimited: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.RateLimits = true })
		for range 10 {
			require.NoError(w, w.readAs())
		}
		return w.readAs()
	}, yields(func(t *testing.T, e *errors.RateLimited) {
		assert.Equal(t, 5*time.Minute, e.RetryAfter)
		assert.True(t, e.RetryAt.After(time.Now()))
	})},
	errors.CodeProviderUnavailable: {func(w *payWorld) error {
		return w.set(func(s *sandbox.Settings) {
			s.FaucetGas = decimal.Decimal{}
		}, func() error { return w.deposit("1") })
	}, yields(hasRequestID[*errors.ProviderUnavailable])},
	errors.CodeDatabaseUnavailable: {func(w *payWorld) error {
		return w.set(func(s *sandbox.Settings) {
			s.DatabaseAvailable = false
		}, func() error { return read(w.Context(), w.account) })
	}, yields(hasRequestID[*errors.DatabaseUnavailable])},
}

// hasRequestID holds a 5xx to the id that its caller logs.
func hasRequestID[E error](t *testing.T, err E) {
	refusal := as[*errors.Refusal](t, err)
	assert.Regexp(t, "^req_", refusal.RequestID)
	assert.Contains(t, string(refusal.Details), refusal.RequestID)
}

var sessionSlugs = map[errors.Code]provocation{
	errors.CodeUnauthenticated: {func(w *payWorld) error {
		return w.spoilHeader("Authorization", "Bearer garbage")
	}, yields[*errors.Unauthenticated]()},
	errors.CodeTokenExpired: {func(w *payWorld) error {
		w.Host.Arm("GET", "/chains", sandbox.ExpireToken().Times(10))
		return read(w.Context(), w.account)
	}, yields[*errors.TokenExpired]()},
	errors.CodeForbidden: {func(w *payWorld) error {
		return w.spoilHeader("Authorization", "Bearer "+w.Host.Credentials().APIKey.Reveal())
	}, yields(func(t *testing.T, e *errors.Forbidden) {
		assert.Equal(t, errors.ReasonDeveloperSessionRequired, e.Reason)
	})},
	errors.CodeInvalidCredentials: {func(w *payWorld) error {
		return w.readAs(func(d *dapi.Developer) { d.Email = "nobody@example.com" })
	}, yields[*errors.InvalidCredentials]()},
	errors.CodeRequestExpired: {func(w *payWorld) error {
		w.Host.Advance(3 * time.Hour)
		w.Wire.OnAnswer(func(_ *http.Request, answer *http.Response) { answer.Header.Del("Date") })
		return w.readAs()
	}, yields[*errors.RequestExpired]()},
	errors.CodeChallengeNotFound: {func(w *payWorld) error {
		w.answerPayload([]byte("of a challenge that the host did not make"))
		return w.readAs()
	}, yields[*errors.ChallengeNotFound]()},
	errors.CodeChallengeConsumed: {func(w *payWorld) error {
		w.spoil("/auth/token", func(r *http.Request) { // it arrives twice
			body, err := io.ReadAll(r.Body)
			require.NoError(w, err)
			first := r.Clone(r.Context())
			first.Body, r.Body = io.NopCloser(strings.NewReader(string(body))),
				io.NopCloser(strings.NewReader(string(body)))
			w.Host.ServeHTTP(httptest.NewRecorder(), first)
		})
		return w.readAs()
	}, yields[*errors.ChallengeConsumed]()},
	errors.CodeChallengeExpired: {func(w *payWorld) error {
		return w.readAs(func(d *dapi.Developer) {
			d.Key = signerFunc{d.Key, func([]byte) { w.Host.Advance(6 * time.Minute) }}
		})
	}, yields[*errors.ChallengeExpired]()},
	errors.CodeSignatureInvalid: {func(w *payWorld) error {
		return w.readAs(func(d *dapi.Developer) { d.Key = forger{d.Key} })
	}, yields[*errors.SignatureInvalid]()},
	errors.CodeKeyNotRegistered: {func(w *payWorld) error {
		stranger, err := signing.Generate()
		require.NoError(w, err)
		return w.readAs(func(d *dapi.Developer) { d.Key = stranger })
	}, yields[*errors.KeyNotRegistered]()},
	errors.CodeLoginUnavailable: {func(w *payWorld) error {
		return w.set(func(s *sandbox.Settings) { s.LoginAvailable = false }, func() error { return w.readAs() })
	}, yields(hasRequestID[*errors.LoginUnavailable])},
	errors.CodeLoginModeUnavailable: {func(w *payWorld) error {
		return w.set(func(s *sandbox.Settings) { s.LoginMode = "passkey" }, func() error { return w.readAs() })
	}, yields(func(t *testing.T, e *errors.LoginModeUnavailable) { assert.Equal(t, "passkey", e.Use) })},
	errors.CodeDeveloperKeyNotFound: {func(w *payWorld) error {
		return w.control("DELETE", "/keys/dk_unknown", "")
	}, yields[*errors.DeveloperKeyNotFound]()},
	errors.CodeDeveloperKeyAlreadyExists: {func(w *payWorld) error {
		return w.control("POST", "/keys", `{"email":"ops@example.com","publicKey":"`+w.Host.Credentials().
			Key.PublicKeyBase64()+`"}`)
	}, yields[*errors.DeveloperKeyAlreadyExists]()},
}

var key42 = moneymovement.IdempotencyKey("invoice-42")

// booked is a payout that waits for its confirm.
func (w *payWorld) booked() *dapi.Payout {
	booked, err := w.account.Payouts.Book(w.Context(), w.asked, key42)
	require.NoError(w, err)
	return booked
}

func (w *payWorld) confirm(booked *dapi.Payout) error {
	_, err := w.account.Payouts.Confirm(w.Context(), w.asked, booked)
	return err
}

// confirmed is a payout that is funding.
func (w *payWorld) confirmed() *dapi.Payout {
	booked := w.booked()
	require.NoError(w, w.confirm(booked))
	return booked
}

// late confirms when so much time has passed on the host since the key was asked to sign.
func (w *payWorld) late(d time.Duration) error {
	booked := w.booked()
	w.waitBeforeSigning(d, 1)
	return w.confirm(booked)
}

func (w *payWorld) openSEPA() error {
	_, err := w.readyClient().Rails.Open(w.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	return err
}

var moneySlugs = map[errors.Code]provocation{
	errors.CodeSignerNotAttached: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.SignerDetached = true })
		_, err := w.account.Payouts.Book(w.Context(), w.asked)
		return err
	}, yields[*errors.SignerNotAttached]()},
	errors.CodeWalletNotLinked: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(time.Hour) })
		_, err := w.client().Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC})
		return err
	}, yields[*errors.WalletNotLinked]()},
	errors.CodeApprovalConsumed: {func(w *payWorld) error {
		funded := w.confirmed()
		_, err := w.account.Sandbox.SetPayoutStatus(w.Context(), funded.ID, dapi.PayoutStatusFailed)
		require.NoError(w, err)
		return w.confirm(funded)
	}, yields[*errors.ApprovalConsumed]()},
	errors.CodeApprovalExpired: {func(w *payWorld) error {
		created, err := w.account.Escrows.Create(w.Context(), deal())
		require.NoError(w, err)
		w.waitBeforeSigning(time.Minute, 1)
		_, err = w.account.Escrows.Confirm(w.Context(), deal(), created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		return err
	}, yields[*errors.ApprovalExpired]()},
	errors.CodeApprovalMismatch: {func(w *payWorld) error {
		booked := w.booked()
		other, err := w.account.Payouts.Book(w.Context(), w.asked, moneymovement.IdempotencyKey("invoice-43"))
		require.NoError(w, err)
		w.spoil("/payouts/"+string(booked.ID), func(r *http.Request) {
			r.URL.Path = "/dapi/v1/payouts/" + string(other.ID) + "/confirm"
		})
		return w.confirm(booked)
	}, yields[*errors.ApprovalMismatch]()},
	errors.CodeSigningPolicyRefused: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse })
		return w.confirm(w.booked())
	}, yields[*errors.SigningPolicyRefused]()},
	errors.CodeRailNotAvailable: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.RailsDisabled = []string{"sepa"} })
		return w.openSEPA()
	}, yields[*errors.RailNotAvailable]()},
	errors.CodeRailRequirementsUnmet: {func(w *payWorld) error { return w.openSEPA() },
		yields(func(t *testing.T, e *errors.RailRequirementsUnmet) {
			require.NotEmpty(t, e.Blockers)
			assert.NotEmpty(t, e.Blockers[0].Code)
			assert.NotEmpty(t, e.Blockers[0].Message)
		})},
	errors.CodeQuoteExpired: {func(w *payWorld) error {
		return w.late(31 * time.Second)
	}, yields[*errors.QuoteExpired]()},
	errors.CodeFundingAttemptExpired: {func(w *payWorld) error {
		return w.late(2 * time.Minute)
	}, yields[*errors.FundingAttemptExpired]()},
	errors.CodeFundingInProgress: {func(w *payWorld) error {
		return w.confirm(w.confirmed())
	}, yields[*errors.FundingInProgress]()},
	errors.CodeAlreadyFunded: {func(w *payWorld) error {
		funded := w.confirmed()
		w.Host.Advance(time.Duration(w.Host.Settings().PayoutStepAfter))
		return w.confirm(funded)
	}, yields(func(t *testing.T, e *errors.AlreadyFunded) {
		assert.Regexp(t, "^po_", e.PayoutID)
		assert.Regexp(t, "^0x[0-9a-f]{64}$", e.TransactionHash)
		assert.Equal(t, errors.Moved, e.MovedByCall())
	})},
	errors.CodeContactNotPayable: {func(w *payWorld) error {
		w.asked.ContactID = w.Contact(w.account.Contacts,
			dapi.SEPA(dapi.IBANAccount{Holder: dapi.AccountHolder{Name: "Eve Roe"}}))
		_, err := w.account.Payouts.Book(w.Context(), w.asked)
		return err
	}, yields(func(t *testing.T, e *errors.ContactNotPayable) {
		require.Len(t, e.Blockers, 1)
		assert.Equal(t, "iban", e.Blockers[0].Field)
	})},
	errors.CodePayoutNotFundable: {func(w *payWorld) error {
		w.asked.Amount = amount("100.01")
		return w.confirm(w.booked())
	}, yields(func(t *testing.T, e *errors.PayoutNotFundable) {
		assert.Contains(t, string(e.Details), `"available":"100"`)
	})},
	errors.CodeQuoteNotSubmitted: {func(w *payWorld) error {
		_, err := w.account.Sandbox.SetPayoutStatus(w.Context(), w.booked().ID, dapi.PayoutStatusCompleted)
		return err
	}, yields[*errors.QuoteNotSubmitted]()},
	errors.CodeAmountBelowMinimum: {func(w *payWorld) error {
		return w.deposit("0.09")
	}, yields[*errors.AmountBelowMinimum]()},
	errors.CodeAmountAboveMaximum: {func(w *payWorld) error { return w.deposit("100.01") },
		yields(func(t *testing.T, e *errors.AmountAboveMaximum) { assert.Equal(t, "100", e.MaxCredit.String()) })},
}
