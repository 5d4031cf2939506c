package dapi_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
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
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
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
	w.Wire.Handler = http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dapi/v1"+path) {
			change(r)
		}
		next.ServeHTTP(response, r)
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
	// The description names no request that gets these two.
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
		w.Wire.OnResponse(func(_ *http.Request, response *http.Response) { response.Header.Del("Date") })
		return w.readAs()
	}, yields[*errors.RequestExpired]()},
	errors.CodeChallengeNotFound: {func(w *payWorld) error {
		w.responsePayload([]byte("of a challenge that the host did not make"))
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
		created, err := w.account.Escrows.Create(w.Context(), newEscrow())
		require.NoError(w, err)
		w.waitBeforeSigning(time.Minute, 1)
		_, err = w.account.Escrows.Confirm(w.Context(), newEscrow(), created.ID, dapi.EscrowActionTypeApprove,
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
			dapi.SEPA(dapi.BankFields{AccountHolderName: "Eve Roe"}))
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

// mistake is something that people do or meet, and what its error's text has to say: what is wrong, and how to mend it.
type mistake struct {
	make func(w *payWorld) error
	says []string
}

func (w *payWorld) book(change func(*dapi.PayoutCreate), options ...moneymovement.WriteOption) error {
	change(&w.asked)
	_, err := w.account.Payouts.Book(w.Context(), w.asked, options...)
	return err
}

// through reads by a connection of the row's own.
func (w *payWorld) through(next testkit.Connection) error {
	integrator, err := dapi.NewIntegrator(w.URL, w.Developer(), worlds.WithTransport(next))
	require.NoError(w, err)
	return read(w.Context(), integrator.Self())
}

// localMistakes are those that the SDK notices by itself, with what it knows of earlier calls.
// TestMessagesOfInvalidInput of package dapi has those that need no more than the input.
var localMistakes = map[string]mistake{
	"too many decimals, by the listing": {func(w *payWorld) error {
		_, err := w.account.Chains.Live(w.Context())
		require.NoError(w, err)
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("1.0000001") })
	}, []string{"BookPayout", "amount has 7 decimals, but USDC allows at most 6"}},
	"a key for other terms, here": {func(w *payWorld) error {
		require.NoError(w, w.book(func(*dapi.PayoutCreate) {}, key42))
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("24") }, key42)
	}, []string{"other terms", "key invoice-42"}},
	"an approval that the caller's judge refuses": {func(w *payWorld) error {
		account := w.integrator(func(d *dapi.Developer) {
			d.Verifier = func(context.Context, signing.Approval, signing.Intent) error {
				return errors.New("over the day's limit")
			}
		}).Self()
		_, err := account.Payouts.Confirm(w.Context(), w.asked, w.booked())
		return err
	}, []string{"approval", "of \"po_", "your Verifier refused it: over the day's limit"}},
}

// metMistakes are those that only a connection or the service can tell.
var metMistakes = map[string]mistake{
	"too many decimals": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("1.0000001") })
	},
		[]string{"BookPayout", "422 validation_failed", "amount (amount_precision)"}},
	"an asset that nobody holds": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.Currency = "USDT" })
	},
		[]string{"422 validation_failed", "currency (enum)"}},
	"a country in words": {func(w *payWorld) error {
		_, err := w.integrator().Clients.Create(w.Context(),
			dapi.ClientCreate{Email: "a@example.com", Country: "Norway"})
		return err
	}, []string{"CreateClient", "422 validation_failed", "country (string_pattern_mismatch)"}},
	"nobody listens": {func(w *payWorld) error {
		return w.through(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		})
	}, []string{"not delivered", "connection refused", "the service did nothing: you can make the same call again"}},
	"another web site": {func(w *payWorld) error {
		return w.through(testkit.Page(http.StatusNotFound, "text/html", "<html>no</html>"))
	},
		[]string{"the response body is not the service's JSON error (text/html)",
			"check the base URL, and any proxy in between"}},
	"a context that has ended": {func(w *payWorld) error {
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		return read(ctx, w.account)
	}, []string{"ListChains: not delivered: context canceled"}},
	"a response that is lost": {func(w *payWorld) error {
		booked := w.booked()
		w.Wire.OnResponse(func(_ *http.Request, response *http.Response) {
			response.Body = io.NopCloser(strings.NewReader("{"))
		})
		_, err := w.account.Payouts.Confirm(w.Context(), w.asked, booked)
		return err
	}, []string{"ConfirmPayout: in doubt", "repeat the same request"}},
	"a client's payout, asked for as oneself": {func(w *payWorld) error {
		_, err := w.readyClient().Payouts.Get(w.Context(), "po_7")
		return err
	}, []string{"404 not_found", "client cl_", " has no po_7", "check the id, and the account that the call acts for"}},
	"a contact of somebody else": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.ContactID = "ct_nobody" })
	}, []string{"404 not_found", "the credential's own account has no ct_nobody"}},
	"a key that was deleted": {func(w *payWorld) error { return w.scripted(http.StatusForbidden, "forbidden") },
		[]string{"403 forbidden",
			"check that the developer key still exists, and that its allowlist has this machine's address"}},
	"a key without the scope": {func(w *payWorld) error {
		w.Host.Arm("GET", "/chains", sandbox.Respond(http.StatusForbidden, "forbidden").WithDetails(map[string]any{
			"requiredScope": "payouts:write", "scope": []string{"read", "contacts:write"},
		}))
		return read(w.Context(), w.account)
	}, []string{"the developer key has read, contacts:write but needs payouts:write"}},
	"an escrow over the balance": {func(w *payWorld) error {
		large := newEscrow()
		large.Amount = amount("100.01")
		_, err := w.account.Escrows.Open(w.Context(), large, "escrow-42", dapi.EscrowTerms{})
		return err
	}, []string{"409 conflict",
		"the balance is 100 USDC: credit the account, then repeat with the same idempotency key"}},
}

// refusedMistakes are what the slugs' texts say beyond the slug; how each is provoked stands with
// TestEverySlugArrivesAsItsType.
var refusedMistakes = map[errors.Code][]string{
	errors.CodeInvalidRequest: {"exactly one of account, bank, crypto and email",
		"correct the request as the message says"},
	errors.CodeValidationFailed:      {"limit (greater_than_equal)"},
	errors.CodeInvalidCursor:         {"list again from the first page"},
	errors.CodeInvalidID:             {"pass an id that begins with po_"},
	errors.CodeIdempotencyKeyInvalid: {"1 to 128 letters, digits"},
	errors.CodeIdempotencyKeyReused: {"the idempotency key belongs to po_", "check it before you use a new key",
		"key invoice-42"},
	errors.CodeNotFound:         {"the credential's own account has no po_1"},
	errors.CodeMethodNotAllowed: {"check the base URL"},
	errors.CodeConflict:         {"read the resource, and do what its state allows"},
	errors.CodeGone:             {"use another resource"},
	errors.CodeInternalError: {"repeat later with the same idempotency key", "give the request id",
		"request req_"},
	errors.CodePayloadTooLarge:     {"send less data, or a smaller file"},
	errors.CodeRateLimited:         {"wait until 20", "share one rate limiter"},
	errors.CodeProviderUnavailable: {"repeat later with the same idempotency key"},
	errors.CodeDatabaseUnavailable: {"repeat later with the same idempotency key"},
	errors.CodeUnauthenticated:     {"check the credential and the base URL"},
	errors.CodeTokenExpired:        {"compare this machine's clock with the service's"},
	errors.CodeForbidden: {"log in with a developer key",
		"the token does not come from a developer-key login"},
	errors.CodeInvalidCredentials: {
		"check the email, the developer key, its signature and this machine's address"},
	errors.CodeRequestExpired:    {"correct this machine's clock"},
	errors.CodeChallengeNotFound: {"each login needs its own challenge"},
	errors.CodeChallengeConsumed: {"each login needs its own challenge"},
	errors.CodeChallengeExpired:  {"log in again, and sign the challenge at once"},
	errors.CodeSignatureInvalid:  {"sign the decoded payload byte for byte"},
	errors.CodeKeyNotRegistered: {
		"register the public key for this account, or log in with the email of the account that has it"},
	errors.CodeLoginUnavailable:          {"log in later"},
	errors.CodeLoginModeUnavailable:      {"log in with passkey, the mode that is enabled"},
	errors.CodeDeveloperKeyNotFound:      {"check the id, which begins with dk_"},
	errors.CodeDeveloperKeyAlreadyExists: {"use the existing key, or create a new key pair"},
	errors.CodeSignerNotAttached:         {"attach the developer signer to the account's wallet"},
	errors.CodeWalletNotLinked:           {"wait until the client is ready"},
	errors.CodeApprovalConsumed: {"may have gone through; if it has not, prepare it again with the same " +
		"idempotency key"},
	errors.CodeApprovalExpired:       {"prepare it again with the same idempotency key"},
	errors.CodeApprovalMismatch:      {"confirm it with the approval from that response"},
	errors.CodeSigningPolicyRefused:  {"ask the owner of the account's signing policy"},
	errors.CodeRailNotAvailable:      {"ask the service to add the rail to the integrator's agreement"},
	errors.CodeRailRequirementsUnmet: {"document_missing (documentIds)", "complete the client's verification"},
	errors.CodeQuoteExpired:          {"ask for a new price; for a payout, book again with the same idempotency key"},
	errors.CodeFundingAttemptExpired: {"book it again with the same idempotency key"},
	errors.CodeFundingInProgress:     {"do not pay with another idempotency key"},
	errors.CodeAlreadyFunded:         {"treat this as a success: payout po_", "do not pay it again"},
	errors.CodeContactNotPayable:     {"account_detail_missing (iban)", "an IBAN, cannot be updated"},
	errors.CodePayoutNotFundable: {"the balance is 100 USDC: credit the account, then repeat with the same " +
		"idempotency key"},
	errors.CodeQuoteNotSubmitted:  {"submit the quote first"},
	errors.CodeAmountBelowMinimum: {"ask for 0.10 or more"},
	errors.CodeAmountAboveMaximum: {"ask for at most 100 per call"},
}

// The text of an error says what is wrong and how to mend it, so that a log line is enough.
func TestErrorTextsSayHowToFixThem(t *testing.T) {
	all := map[string]mistake{}
	for _, part := range []map[string]mistake{localMistakes, metMistakes} {
		for name, m := range part {
			all[name] = m
		}
	}
	for _, part := range []map[errors.Code]provocation{requestSlugs, sessionSlugs, moneySlugs} {
		for code, p := range part {
			says, known := refusedMistakes[code]
			require.True(t, known, "nothing is said about %s", code)
			all[string(code)] = mistake{p.provoke, append([]string{string(code)}, says...)}
		}
	}
	require.Greater(t, len(all), 50)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := m.make(newPayWorld(t))
				require.Error(t, err)
				text := err.Error()
				for _, part := range m.says {
					assert.Contains(t, text, part)
				}
				assert.LessOrEqual(t, strings.Count(text, "key invoice-42"), 1, text)
				assert.LessOrEqual(t, strings.Count(text, "attempts"), 1, text)
				assert.NotContains(t, text, "\n")
				assert.Less(t, len(text), 600)
			})
		})
	}
}

// Flows end in types as well, also when the key or the caller's own judge of approvals fails.
func TestErrorsOfSigningHaveATypeAndNameThePayout(t *testing.T) {
	judge := errors.New("over the day's limit")
	for name, tc := range map[string]struct {
		developer func(*dapi.Developer)
		cancel    bool
		is        error
	}{
		"the signer fails": {func(d *dapi.Developer) {
			d.Key = approvalsFail{d.Key}
		}, false, testkit.ErrCustom},
		"the judge refuses": {func(d *dapi.Developer) {
			d.Verifier = func(context.Context, signing.Approval, signing.Intent) error { return judge }
		}, false, judge},
		"the context ends": {func(*dapi.Developer) {}, true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			account := w.integrator(tc.developer).Self()
			booked, err := account.Payouts.Book(t.Context(), w.asked, key42)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.cancel {
				cancel()
			}

			_, err = account.Payouts.Confirm(ctx, w.asked, booked)
			testkit.CheckError(t, err)
			assert.ErrorIs(t, err, tc.is)
			head, _ := errors.CallInfoOf(err)
			assert.Equal(t, string(booked.ID), head.Resource)
			assert.Equal(t, "ConfirmPayout", head.Operation)
		})
	}
}

// approvalsFail is a key that signs logins only.
type approvalsFail struct{ signing.Signer }

func (s approvalsFail) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if strings.Contains(string(message), "approvalId") {
		return nil, testkit.ErrCustom
	}
	return s.Signer.Sign(ctx, message)
}

// provoked are the errors without a slug that docs/errors.md says how to provoke on the sandbox host alone.
var provoked = map[string]func(w *payWorld) error{
	"errors.InvalidInput": func(w *payWorld) error {
		_, err := w.account.Payouts.Pay(w.Context(), w.asked, "", dapi.PayTerms{})
		return err
	},
	"errors.NotDelivered": func(w *payWorld) error {
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		return read(ctx, w.account)
	},
	"errors.InDoubt": func(w *payWorld) error {
		w.Host.Arm("POST", "/payouts", sandbox.DropAfterCommit().Times(4))
		_, err := w.account.Payouts.Book(w.Context(), w.asked, key42)
		return err
	},
	"errors.UnexpectedResponse": func(w *payWorld) error {
		w.Host.Arm("GET", "/chains", sandbox.Garbage().Times(4))
		return read(w.Context(), w.account)
	},
	"errors.Unrecognized": func(w *payWorld) error { return w.scripted(http.StatusConflict, "a_new_slug") },
	"dapi.PriceRefused": func(w *payWorld) error {
		_, err := w.pay(journaled(), maxFee(amount("0")))
		return err
	},
	"dapi.PaymentDeclined": func(w *payWorld) error {
		_, err := w.pay(journaled(),
			beforeSigning(func(context.Context, *dapi.Payout) error { return errors.New("no") }))
		return err
	},
	"dapi.KeyTooOld": func(w *payWorld) error {
		payment, _ := w.pay(firstUsedAt(time.Now().Add(-8 * 24 * time.Hour)))
		return payment.Refusal
	},
	"moneymovement.StillPending": func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		payment, err := w.pay()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		_, err = w.account.Payouts.Wait(ctx, payment.Payout.ID)
		return err
	},
	"dapi.RailNotListed": func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.RailsHidden = []string{"sepa"} })
		_, err := w.readyClient().Rails.WaitActive(w.Context(), "sepa", "EUR")
		return err
	},
}

// What the page says provokes an error provokes it.
func TestErrorsWithoutASlugCanBeProvoked(t *testing.T) {
	page, err := os.ReadFile("../../../docs/errors.md")
	require.NoError(t, err)
	for name, provoke := range provoked {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := provoke(newPayWorld(t))
				if both, ok := err.(interface{ Unwrap() []error }); ok {
					err = both.Unwrap()[0]
				}
				assert.Equal(t, "*"+name, fmt.Sprintf("%T", err))
			})
		})
		assert.Contains(t, string(page), "\n### "+name+"\n")
	}
}
