package dapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/mishaps"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

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

func (w *payWorld) open(address string, change ...func(*dapi.Developer)) error {
	_, err := dapi.NewIntegrator(address, w.changed(change), w.Options()...)
	return err
}

// through reads by a connection of the row's own.
func (w *payWorld) through(next mishaps.Connection) error {
	integrator, err := dapi.NewIntegrator(w.URL, w.Developer(), worlds.Through(next))
	require.NoError(w, err)
	return read(w.Context(), integrator.Self())
}

// localMistakes are those that the SDK notices by itself.
var localMistakes = map[string]mistake{
	"address with the surface's path": {func(w *payWorld) error { return w.open("https://service.example/dapi/v1/") },
		[]string{"baseURL must not end in /dapi/v1: the SDK adds this path"}},
	"address without https": {func(w *payWorld) error { return w.open("http://service.example") },
		[]string{"baseURL must be https: plain http would show the credential to the network"}},
	"address of no web server": {func(w *payWorld) error {
		return w.open("service.example")
	}, []string{"baseURL must begin with https://"}},
	"address with a query": {func(w *payWorld) error {
		return w.open("https://service.example?a=b")
	}, []string{"baseURL must have a scheme and a host, may have a path"}},
	"no email": {func(w *payWorld) error {
		return w.open(w.URL, func(d *dapi.Developer) { d.Email = "" })
	}, []string{"email is required"}},
	"no key": {func(w *payWorld) error {
		return w.open(w.URL, func(d *dapi.Developer) { d.Key = nil })
	}, []string{"key is required"}},
	"too many decimals, by the listing": {func(w *payWorld) error {
		_, err := w.account.Chains.Live(w.Context())
		require.NoError(w, err)
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("1.0000001") })
	}, []string{"BookPayout", "amount has 7 decimals, but USDC allows at most 6"}},
	"no amount": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("0") })
	}, []string{"amount is required and must not be zero"}},
	"negative amount": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("-1") })
	}, []string{"amount must be positive"}},
	"no contact": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.ContactID = "" })
	}, []string{"contactId is required"}},
	"a client as contact": {func(w *payWorld) error {
		return w.book(func(p *dapi.PayoutCreate) { p.ContactID = "cl_1" })
	},
		[]string{"contactId is the id of another kind of resource (cl_): pass an id that begins with ct_"}},
	"a contact as client": {func(w *payWorld) error { return read(w.Context(), w.integrator().For("ct_1")) },
		[]string{"X-Service-Account (the client of For) is the id of another kind of resource (ct_): " +
			"pass an id that begins with cl_"}},
	"no client": {func(w *payWorld) error {
		return read(w.Context(), w.integrator().For(""))
	}, []string{"X-Service-Account (the client of For) is required"}},
	"a contact as payout": {func(w *payWorld) error {
		_, err := w.account.Payouts.Get(w.Context(), "ct_1")
		return err
	}, []string{"GetPayout", "payoutId is the id of another kind of resource (ct_): pass an id that begins with po_"}},
	"a key with a space": {func(w *payWorld) error {
		return w.book(func(*dapi.PayoutCreate) {}, moneymovement.IdempotencyKey("invoice 42"))
	}, []string{"Idempotency-Key (the key of the call) does not match ^[A-Za-z0-9._:-]{1,128}$"}},
	"a key for other terms, here": {func(w *payWorld) error {
		require.NoError(w, w.book(func(*dapi.PayoutCreate) {}, key42))
		return w.book(func(p *dapi.PayoutCreate) { p.Amount = amount("24") }, key42)
	}, []string{"other terms", "key invoice-42"}},
	"too long a page": {func(w *payWorld) error {
		_, err := w.account.Transactions.List(w.Context(), dapi.ListTransactionsParams{Limit: 101})
		return err
	}, []string{"limit must be at most 100"}},
	"a name of a novel": {func(w *payWorld) error {
		_, err := w.account.Contacts.Create(w.Context(),
			dapi.ContactCreate{Name: strings.Repeat("n", 300), Account: wallet()})
		return err
	}, []string{"name has 300 characters, but may have at most 200"}},
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
		return w.through(mishaps.Page(http.StatusNotFound, "text/html", "<html>no</html>"))
	},
		[]string{"the response body is not the service's JSON error (text/html)",
			"check the base URL, and any proxy in between"}},
	"a context that has ended": {func(w *payWorld) error {
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		return read(ctx, w.account)
	}, []string{"ListChains: not delivered: context canceled"}},
	"an answer that is lost": {func(w *payWorld) error {
		booked := w.booked()
		w.Wire.OnAnswer(func(_ *http.Request, answer *http.Response) {
			answer.Body = io.NopCloser(strings.NewReader("{"))
		})
		_, err := w.account.Payouts.Confirm(w.Context(), w.asked, booked)
		return err
	}, []string{"ConfirmPayout: outcome unknown", "repeat the same request"}},
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
	"a deal over the balance": {func(w *payWorld) error {
		large := deal()
		large.Amount = amount("100.01")
		_, err := w.account.Escrows.Open(w.Context(), large, "deal-42", dapi.DealTerms{})
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
func TestMistakesAreExplained(t *testing.T) {
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
