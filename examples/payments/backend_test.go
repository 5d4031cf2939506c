package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// office is the backend under test, with the sandbox host that it calls.
type office struct {
	*testing.T
	host     *sandbox.Host
	platform *dapi.Integrator
	client   dapi.ClientID
	supplier dapi.ContactID
	file     string
	maxFee   decimal.Decimal
}

// newOffice starts a host in this process, and creates a client with 50 USDC and a contact.
func newOffice(t *testing.T) *office {
	host := sandbox.New(sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)

	platform, err := dapi.NewIntegrator(server.URL,
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key},
		moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: time.Millisecond}))
	require.NoError(t, err)
	return furnish(t, host, platform)
}

func furnish(t *testing.T, host *sandbox.Host, platform *dapi.Integrator) *office {
	client, err := platform.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	require.NoError(t, err)
	account := platform.For(client.ID)
	_, err = account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	require.NoError(t, err)
	supplier, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Supplier"})})
	require.NoError(t, err)
	return &office{t, host, platform, client.ID, supplier.ID, filepath.Join(t.TempDir(), "payments.db"),
		decimal.NewFromInt(1)}
}

// start runs the backend, while the test uses it. A second start has the same file.
func (o *office) start(use func(ctx context.Context, b *backend)) {
	o.Helper()
	err := serve(o.Context(), o.platform, o.file, slog.New(slog.DiscardHandler),
		func(ctx context.Context, processor *payments.Processor) error {
			err := raiseFees(ctx, processor, o.maxFee)
			use(ctx, &backend{processor: processor, client: o.client, maxFee: o.maxFee})
			return err
		})
	require.NoError(o, err)
}

// ask sends a request to the backend.
func (o *office) ask(b *backend, method, path, body string) (status int, said payment) {
	recorder := httptest.NewRecorder()
	b.handler().ServeHTTP(recorder, httptest.NewRequestWithContext(o.Context(), method, path, strings.NewReader(body)))
	assert.NoError(o, json.Unmarshal(recorder.Body.Bytes(), &said))
	return recorder.Code, said
}

// pay asks for a payment of invoice 42.
func (o *office) pay(b *backend, amount string) (status int, said payment) {
	return o.ask(b, http.MethodPost, "/payments",
		`{"id":"invoice-42","contactId":"`+string(o.supplier)+`","amount":"`+amount+`"}`)
}

// ends waits until the payment of invoice 42 ends, and returns its state.
func (o *office) ends(ctx context.Context, b *backend) moneymovement.PaymentState {
	record, err := b.processor.Await(ctx, moneymovement.DeriveKey("payment", "invoice-42"))
	assert.NoError(o, err)
	return record.State
}

// balance returns the client's balance in the host's ledger.
func (o *office) balance() string {
	return o.host.Ledger().Balances[string(o.client)]["USDC"].String()
}

func TestManyRequestsPayOnce(t *testing.T) {
	o := newOffice(t)
	o.start(func(ctx context.Context, b *backend) {
		var clicks sync.WaitGroup
		for range 5 {
			clicks.Go(func() {
				status, _ := o.pay(b, "12.50")
				assert.Equal(t, http.StatusAccepted, status)
			})
		}
		clicks.Wait()
		assert.Equal(t, moneymovement.PaymentCompleted, o.ends(ctx, b))
		status, said := o.ask(b, http.MethodGet, "/payments/invoice-42", "")
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, moneymovement.PaymentCompleted, said.State)
		assert.NotEmpty(t, said.PayoutID)
	})
	assert.Equal(t, "37.5", o.balance())
}

// A network failure must neither lose a payment nor make it twice.
func TestNetworkFailuresPayOnce(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"the request is lost":             sandbox.DropBefore(),
		"the response is lost":            sandbox.DropAfterCommit(),
		"a proxy responds":                sandbox.Garbage().AfterCommit(),
		"the service fails half-way":      sandbox.Respond(http.StatusBadGateway, "provider_unavailable").AfterCommit(),
		"the token expires":               sandbox.ExpireToken(),
		"the service is over its windows": sandbox.Respond(http.StatusTooManyRequests, "rate_limited"),
	} {
		for _, path := range []string{"/payouts", "/payouts/{payoutId}/confirm"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				o := newOffice(t)
				armed := o.host.Arm(http.MethodPost, path, fault)
				o.start(func(ctx context.Context, b *backend) {
					o.pay(b, "12.50")
					assert.Equal(t, moneymovement.PaymentCompleted, o.ends(ctx, b))
				})
				assert.Equal(t, 1, armed.Consumed())
				assert.Equal(t, "37.5", o.balance())
			})
		}
	}
}

func TestSessionIsRenewedAfterAnHour(t *testing.T) {
	o := newOffice(t)
	o.host.Advance(61 * time.Minute)
	o.start(func(ctx context.Context, b *backend) {
		o.pay(b, "12.50")
		assert.Equal(t, moneymovement.PaymentCompleted, o.ends(ctx, b))
	})
	assert.Equal(t, "37.5", o.balance())
}

func TestRefusedPaymentIsExplained(t *testing.T) {
	o := newOffice(t)
	o.start(func(ctx context.Context, b *backend) {
		for body, want := range map[string]int{
			"{":         http.StatusBadRequest,
			`{"id":""}`: http.StatusBadRequest,
			`{"id":"1","contactId":"ct_1","amount":"-1"}`: http.StatusUnprocessableEntity,
		} {
			status, said := o.ask(b, http.MethodPost, "/payments", body)
			assert.Equal(t, want, status, body)
			assert.NotEmpty(t, said.Problem)
		}
		status, _ := o.ask(b, http.MethodGet, "/payments/invoice-42", "")
		assert.Equal(t, http.StatusNotFound, status)

		o.pay(b, "5000")
		assert.Equal(t, moneymovement.PaymentNeedsDecision, o.ends(ctx, b), "the balance is too low")
		status, said := o.pay(b, "12.50")
		assert.Equal(t, http.StatusConflict, status)
		assert.Equal(t, "this id has other terms", said.Problem)
	})
	assert.Equal(t, "50", o.balance())
}

func TestAPaymentGoesOnWithAHigherFee(t *testing.T) {
	o := newOffice(t)
	require.NoError(t, o.host.Configure(func(s *sandbox.Settings) {
		s.QuoteLifetime = sandbox.Duration(time.Second) // new bounds wait for the end of the old price
	}))
	for _, start := range []struct {
		maxFee string
		ends   moneymovement.PaymentState
	}{
		{"0.01", moneymovement.PaymentNeedsDecision},
		{"0.02", moneymovement.PaymentNeedsDecision}, // still too low: nobody decides
		{"1", moneymovement.PaymentCompleted},
	} {
		o.maxFee = decimal.RequireFromString(start.maxFee)
		o.start(func(ctx context.Context, b *backend) {
			o.pay(b, "12.50")
			assert.Equal(t, start.ends, o.ends(ctx, b), start.maxFee)
		})
	}
	assert.Equal(t, "37.5", o.balance())
}

func TestPaymentsOfOthersAreFoundInTheLedger(t *testing.T) {
	o := newOffice(t)
	o.start(func(ctx context.Context, b *backend) {
		o.pay(b, "12.50")
		assert.Equal(t, moneymovement.PaymentCompleted, o.ends(ctx, b))
		_, err := o.platform.For(o.client).Payouts.Pay(ctx,
			dapi.PayoutCreate{ContactID: o.supplier, Amount: decimal.NewFromInt(7), Currency: dapi.USDC},
			"by-hand", dapi.PayTerms{})
		require.NoError(t, err)
		found := 0
		for _, day := range []int{0, 1} { // midnight can pass during the test
			differences, err := reconcileDay(ctx, b.processor, []dapi.ClientID{o.client}, time.Now().AddDate(0, 0, day))
			require.NoError(t, err)
			found += differences
		}
		assert.Equal(t, 1, found)
	})
}

// Minutes pass at once: the backend, the SDK and the host are in one bubble, in which time passes when all of them
// wait.
func TestPaymentInSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := sandbox.New(sandbox.WithInstantProgress())
		platform, err := dapi.NewIntegrator("https://sandbox.example",
			dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key},
			moneymovement.WithHTTPClient(host.Client())) // without a socket, for which a bubble does not wait
		require.NoError(t, err)
		o := furnish(t, host, platform)
		require.NoError(t, host.Configure(func(s *sandbox.Settings) {
			s.PayoutStepAfter = sandbox.Duration(5 * time.Minute)
		}))
		began := time.Now()
		o.start(func(ctx context.Context, b *backend) {
			o.pay(b, "12.50")
			assert.Equal(t, moneymovement.PaymentCompleted, o.ends(ctx, b))
		})
		assert.Greater(t, time.Since(began), 5*time.Minute)
	})
}
