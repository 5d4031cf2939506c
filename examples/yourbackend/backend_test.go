package yourbackend

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is the backend under test, with the sandbox host that it calls.
type world struct {
	host     *sandbox.Host
	account  *dapi.Account
	backend  http.Handler
	client   dapi.ClientID
	supplier dapi.ContactID
	nobody   dapi.ContactID
}

// newWorld starts a host in this process, and creates a client with 50 USDC and two contacts. Your own tests need no
// more.
func newWorld(t *testing.T) *world {
	host := sandbox.New(sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)

	platform, err := dapi.NewIntegrator(server.URL,
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key},
		moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: time.Millisecond}))
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	require.NoError(t, err)
	account := platform.For(client.ID)
	_, err = account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	require.NoError(t, err)
	contact := func(iban string) dapi.ContactID {
		made, err := account.Contacts.Create(t.Context(),
			dapi.ContactCreate{Name: "Supplier",
				Account: dapi.SEPA(dapi.IBANAccount{IBAN: iban, Holder: dapi.AccountHolder{Name: "Supplier"}})})
		require.NoError(t, err)
		return made.ID
	}
	return &world{host, account, New(account), client.ID, contact("DE89370400440532013000"), contact("")}
}

// pay sends a customer's request.
func (w *world) pay(t *testing.T, invoice string, to dapi.ContactID, amount string) (status int, body map[string]any) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/invoices/"+invoice+"/pay",
		strings.NewReader(`{"contactId":"`+string(to)+`","amount":"`+amount+`"}`))
	recorder := httptest.NewRecorder()
	w.backend.ServeHTTP(recorder, request)
	assert.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	return recorder.Code, body
}

// balance returns the client's balance in the host's ledger.
func (w *world) balance() string {
	return w.host.Ledger().Balances[string(w.client)]["USDC"].String()
}

func TestPaysAnInvoice(t *testing.T) {
	w := newWorld(t)
	status, body := w.pay(t, "42", w.supplier, "12.50")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body["payout"], "po_")
	assert.Equal(t, "37.5", w.balance())
}

func TestTwoClicksPayOnce(t *testing.T) {
	w := newWorld(t)
	var clicks sync.WaitGroup
	for range 5 {
		clicks.Go(func() {
			status, _ := w.pay(t, "42", w.supplier, "12.50")
			assert.Contains(t, []int{http.StatusOK, http.StatusAccepted}, status)
		})
	}
	clicks.Wait()
	assert.Equal(t, "37.5", w.balance())
}

// A network failure must neither lose a payment nor make it twice.
func TestNetworkFailuresPayOnce(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"the request is lost":             sandbox.DropBefore(),
		"the response is lost":            sandbox.DropAfterCommit(),
		"the response is cut off":         sandbox.Truncate(0),
		"a proxy responds":                sandbox.Garbage(),
		"the service fails half-way":      sandbox.Respond(http.StatusBadGateway, "provider_unavailable").AfterCommit(),
		"the token expires":               sandbox.ExpireToken(),
		"the service is over its windows": sandbox.Respond(http.StatusTooManyRequests, "rate_limited"),
	} {
		for _, path := range []string{"/payouts", "/payouts/{payoutId}/confirm"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				w := newWorld(t)
				armed := w.host.Arm(http.MethodPost, path, fault)
				status, _ := w.pay(t, "42", w.supplier, "12.50")
				assert.Equal(t, 1, armed.Consumed())
				assert.Equal(t, http.StatusOK, status)
				assert.Equal(t, "37.5", w.balance())
			})
		}
	}
}

func TestAnHourLaterTheSessionIsRenewed(t *testing.T) {
	w := newWorld(t)
	w.host.Advance(61 * time.Minute)
	status, _ := w.pay(t, "42", w.supplier, "12.50")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "37.5", w.balance())
}

func TestRefusalsAreExplainedAndMoveNothing(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*testing.T, *world)
		to      func(*world) dapi.ContactID
		amount  string
		status  int
		problem string
		balance string
	}{
		"a payee without IBAN": {to: func(w *world) dapi.ContactID { return w.nobody }, amount: "10",
			status: http.StatusUnprocessableEntity, problem: "the payee cannot be paid"},
		"too many decimals": {amount: "1.1234567", status: http.StatusUnprocessableEntity, problem: "wrong fields"},
		"less than the fee": {amount: "0.10", status: http.StatusUnprocessableEntity, problem: "wrong fields"},
		"more than there is": {amount: "5000",
			status: http.StatusConflict, problem: "a person here must decide"},
		"too many calls for minutes": {amount: "10", status: http.StatusServiceUnavailable,
			problem: "this is not paid; try again later",
			arrange: func(_ *testing.T, w *world) {
				w.host.Arm(http.MethodPost, "/payouts", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
					WithHeader("Retry-After", "300"))
			}},
		"another amount for the same invoice": {amount: "10", status: http.StatusConflict,
			problem: "this invoice was booked with other terms", balance: "37.5",
			arrange: func(t *testing.T, w *world) {
				status, _ := w.pay(t, "42", w.supplier, "12.50")
				require.Equal(t, http.StatusOK, status)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.arrange != nil {
				c.arrange(t, w)
			}
			to := w.supplier
			if c.to != nil {
				to = c.to(w)
			}
			status, body := w.pay(t, "42", to, c.amount)
			assert.Equal(t, c.status, status)
			assert.Equal(t, c.problem, body["problem"])
			want := "50"
			if c.balance != "" {
				want = c.balance
			}
			assert.Equal(t, want, w.balance())
		})
	}
}

// Before a signature nothing is paid, whatever fails.
func TestWithoutASignatureNothingIsInDoubt(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.PartnerDown = true }))
	status, body := w.pay(t, "42", w.supplier, "12.50")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "this is not paid; try again later", body["problem"])
	assert.Equal(t, "50", w.balance())
}

// If the service fails at the confirm, nobody knows how far it got. The backend says so, and the next request finds
// out.
func TestWhatIsNotKnownIsAskedForAgain(t *testing.T) {
	w := newWorld(t)
	w.host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm",
		sandbox.Respond(http.StatusBadGateway, "provider_unavailable").Times(4))
	status, _ := w.pay(t, "42", w.supplier, "12.50")
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "50", w.balance())

	status, _ = w.pay(t, "42", w.supplier, "12.50")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "37.5", w.balance())
}

// The response to the first request is lost, and the money has left. A refusal of the next request does not change
// that.
func TestARefusalDoesNotUndoAPayment(t *testing.T) {
	for name, refusal := range map[string]sandbox.Fault{
		"the payee cannot be paid": sandbox.Respond(http.StatusConflict, "contact_not_payable"),
		"a field is wrong":         sandbox.Respond(http.StatusUnprocessableEntity, "validation_failed"),
		"the key was deleted":      sandbox.Respond(http.StatusForbidden, "forbidden"),
		"too many calls": sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "300"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			// for both requests
			w.host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.Respond(http.StatusForbidden, "forbidden").
				Times(2))
			w.host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit().Times(4))
			status, _ := w.pay(t, "42", w.supplier, "12.50")
			require.Equal(t, http.StatusAccepted, status)
			require.Equal(t, "37.5", w.balance())

			w.host.Arm(http.MethodPost, "/payouts", refusal)
			status, _ = w.pay(t, "42", w.supplier, "12.50")
			assert.Equal(t, http.StatusAccepted, status, "we do not know yet whether this is paid")
			status, _ = w.pay(t, "42", w.supplier, "12.50")
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, "37.5", w.balance())
		})
	}
}

func TestAPaymentThatCameBackIsNotMadeAgain(t *testing.T) {
	w := newWorld(t)
	_, paid := w.pay(t, "42", w.supplier, "12.50")
	id, ok := paid["payout"].(string)
	require.True(t, ok)
	_, err := w.account.Sandbox.SetPayoutStatus(t.Context(), dapi.PayoutID(id), dapi.PayoutStatusRefunded)
	require.NoError(t, err)

	status, body := w.pay(t, "42", w.supplier, "12.50")
	assert.Equal(t, http.StatusConflict, status)
	assert.Equal(t, "the payment did not arrive", body["problem"])
	assert.Equal(t, "50", w.balance())
}

func TestABodyThatIsNotReadable(t *testing.T) {
	w := newWorld(t)
	before := len(w.host.Requests())
	recorder := httptest.NewRecorder()
	w.backend.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/invoices/42/pay",
		strings.NewReader("{")))
	assert.Equal(t, http.StatusBadRequest, recorder.Code)
	assert.Len(t, w.host.Requests(), before, "nothing was sent")
}
