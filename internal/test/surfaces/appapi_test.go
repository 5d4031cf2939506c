package surfaces_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// appWorld is a host with a client of the app API, whose account holds 200 USDC.
type appWorld struct {
	*worlds.World
	app *appapi.Client
}

func newAppWorld(t *testing.T) *appWorld {
	t.Helper()
	w := &appWorld{World: worlds.Serve(t, worlds.FrozenClock())}
	self := w.SelfServe().Sandbox
	w.Credit(self, "100", dapi.USDC, moneymovement.IdempotencyKey("credit-1"))
	w.Credit(self, "100", dapi.USDC, moneymovement.IdempotencyKey("credit-2"))
	w.app = w.client(w.AppKey())
	return w
}

func (w *appWorld) client(key appapi.APIKey, options ...moneymovement.Option) *appapi.Client {
	w.Helper()
	soon := moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: time.Millisecond})
	return w.App(key, append(options, soon)...)
}

func (w *appWorld) registered(registration sandbox.AppKeyRegistration) *appapi.Client {
	w.Helper()
	key, err := w.Host.RegisterAppKey(registration)
	require.NoError(w, err)
	return w.client(appapi.NewAPIKey(key.Key.Reveal()))
}

func (w *appWorld) balance() string {
	w.Helper()
	balance, err := w.app.Account.WalletBalance(w.Context())
	require.NoError(w, err)
	return balance.USDCBalance.String()
}

func (w *appWorld) bob() string {
	w.Helper()
	return w.AppContact(w.app)
}

func (w *appWorld) invoice() *model.Invoice {
	w.Helper()
	invoice, err := w.app.Invoices.Create(w.Context(),
		appapi.InvoiceCreate{Currency: model.InvoiceCurrencyUSDC, ClientEmail: "dora@example.com", Items: lines()})
	require.NoError(w, err)
	return invoice
}

func as[E error](t testing.TB, err error) E { t.Helper(); return worlds.As[E](t, err) }

// TestLostTransferIsSentOnce however often its response gets lost, and is found by its key.
func TestLostTransferIsSentOnce(t *testing.T) {
	w := newAppWorld(t)
	rent := appapi.ToContact{ContactID: w.bob(), Amount: price("12.34"), Memo: "rent"}
	lost := w.Host.Arm("POST", "/apps/transfer", sandbox.DropAfterCommit().Times(2))
	var response moneymovement.Response
	receipt, err := w.app.Transfers.Send(t.Context(), rent, "rent-1", moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Equal(t, 2, lost.Consumed())
	assert.True(t, response.Replayed)
	assert.Equal(t, "187.66", w.balance())

	w.Host.Arm("POST", "/apps/transfer", sandbox.DropAfterCommit().Times(4))
	_, err = w.app.Transfers.Send(t.Context(), rent, "rent-2")
	as[*errors.InDoubt](t, err)
	for key, found := range map[moneymovement.Key]bool{"rent-1": true, "rent-2": true, "rent-3": false} {
		transfer, is, err := w.app.Transfers.ByKey(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, found, is, key)
		if found {
			assert.True(t, price("12.34").Equal(transfer.Amount.Decimal), key)
		}
	}
	first, _, err := w.app.Transfers.ByKey(t.Context(), "rent-1")
	require.NoError(t, err)
	assert.Equal(t, receipt.TxHash, first.TxHash)
	assert.Equal(t, "175.32", w.balance())

	other := w.client(w.AppKey()) // another process, which does not know the key's terms
	rent.Amount = price("99")
	_, err = other.Transfers.Send(t.Context(), rent, "rent-1")
	as[*errors.IdempotencyKeyReused](t, err)
	assert.Equal(t, "175.32", w.balance())
}

// A lost transfer that is not listed is sent again. A refusal then speaks for that call alone.
func TestALostTransferThatIsNotListed(t *testing.T) {
	w := newAppWorld(t)
	rent := appapi.ToContact{ContactID: w.bob(), Amount: price("12.34")}
	for name, fault := range map[string]sandbox.Fault{
		"rent-1": sandbox.DropBefore().Times(4), "rent-2": sandbox.Respond(http.StatusConflict, "contact_not_payable"),
	} {
		lost := w.Host.Arm("POST", "/apps/transfer", sandbox.DropBefore().Times(100))
		_, err := w.app.Transfers.Send(t.Context(), rent, moneymovement.Key(name))
		as[*errors.InDoubt](t, err)
		lost.Disarm()
		w.Host.Arm("POST", "/apps/transfer", fault)
		_, err = w.app.Transfers.Send(t.Context(), rent, moneymovement.Key(name))
		as[*errors.InDoubt](t, err)
		_, err = w.app.Transfers.Send(t.Context(), rent, moneymovement.Key(name))
		require.NoError(t, err)
	}
	assert.Equal(t, "175.32", w.balance())
}

// A service that has forgotten the keys is not sent a transfer again before the list was read.
func TestForgottenKeySendsOneTransfer(t *testing.T) {
	for name, c := range map[string]struct {
		lost    bool // the response to the first call
		arrange func(w *appWorld)
		inDoubt bool
		balance string
	}{
		"it was paid":         {balance: "187.66"},
		"it may be paid, was": {lost: true, balance: "187.66"},
		"it may be paid, was, and is listed with another memo": {lost: true, balance: "187.66", inDoubt: true,
			arrange: func(w *appWorld) {
				w.Host.Arm("GET", "/apps/transfers", sandbox.Respond(200, "").
					WithBody(`{"items":[{"idempotencyKey":"rent-1","memo":"ren","amount":12.34}]}`).Times(9))
			}},
		"it may be paid, was, and others are listed": {lost: true, balance: "187.66", inDoubt: true,
			arrange: func(w *appWorld) {
				w.Host.Arm("GET", "/apps/transfers", sandbox.Respond(200, "").
					WithBody(`{"items":[{"idempotencyKey":"other","amount":12.34}],"total":40}`).Times(9))
			}},
		"it may be paid, was, and the list cannot be read": {lost: true, balance: "187.66", inDoubt: true,
			arrange: func(w *appWorld) {
				w.Host.Arm("GET", "/apps/transfers", sandbox.Respond(500, "internal_error").Times(9))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAppWorld(t)
			rent := appapi.ToContact{ContactID: w.bob(), Amount: price("12.34"), Memo: "rent"}
			if c.lost {
				w.Host.Arm("POST", "/apps/transfer", sandbox.DropAfterCommit().Times(4))
			}
			_, err := w.app.Transfers.Send(t.Context(), rent, "rent-1")
			assert.Equal(t, c.lost, err != nil)
			w.Host.ForgetKeys()
			if c.arrange != nil {
				c.arrange(w)
			}
			receipt, err := w.app.Transfers.Send(t.Context(), rent, "rent-1")
			if c.inDoubt {
				as[*errors.InDoubt](t, err)
			} else {
				require.NoError(t, err)
				assert.NotEmpty(t, receipt.TxHash)
			}
			assert.Equal(t, c.balance, w.balance())
		})
	}
}

// The terms of a repeated transfer are compared after they were checked: comparing a number with two billion digits
// takes for ever.
func TestRepeatedTransferOfAHugeAmount(t *testing.T) {
	w := newAppWorld(t)
	rent := appapi.ToContact{ContactID: w.bob(), Amount: price("12.34")}
	_, err := w.app.Transfers.Send(t.Context(), rent, "rent-1")
	require.NoError(t, err)
	rent.Amount = decimal.New(1, 2_000_000_000)
	_, err = w.app.Transfers.Send(t.Context(), rent, "rent-1")
	as[*errors.InvalidInput](t, err)
}

func TestTransferPaysTheAmountOfAnInvoice(t *testing.T) {
	w := newAppWorld(t)
	invoice := w.invoice()
	receipt, err := w.app.Transfers.Send(t.Context(), appapi.ToInvoice{InvoiceID: invoice.ID}, "invoice-42")
	require.NoError(t, err)
	paid, err := w.app.Invoices.Get(t.Context(), invoice.ID)
	require.NoError(t, err)
	assert.Equal(t, model.InvoiceStatusPaid, paid.Status)
	require.NotNil(t, paid.Transaction)
	assert.Equal(t, receipt.TxHash, paid.Transaction.TxHash)
	assert.True(t, invoice.Amount.Equal(paid.Transaction.Amount.Decimal))
}

// TestAnInvoiceIsMarkedPaid: without a reference offline and with no transaction; now, unless it is backdated.
func TestAnInvoiceIsMarkedPaid(t *testing.T) {
	w := newAppWorld(t)
	earlier := time.Date(2025, 12, 24, 18, 0, 0, 0, time.UTC)
	for name, payment := range map[string]appapi.InvoicePayment{
		"offline, now": {}, "offline, earlier": {At: earlier}, "by reference, now": {Reference: "ref-1"},
		"by reference, earlier": {Reference: "ref-2", At: earlier},
	} {
		invoice, err := w.app.Invoices.MarkPaid(t.Context(), w.invoice().ID, payment)
		require.NoError(t, err, name)
		assert.Equal(t, model.InvoiceStatusPaid, invoice.Status, name)
		assert.Equal(t, payment.Reference, invoice.OnchainTransactionID, name)
		if payment.At.IsZero() {
			assert.WithinDuration(t, w.Host.Now(), invoice.PaidAt, 5*time.Second, name)
		} else {
			assert.True(t, earlier.Equal(invoice.PaidAt), name)
		}
		if payment.Reference == "" {
			assert.Nil(t, invoice.Transaction, name)
		}
	}
	assert.Equal(t, "200", w.balance(), "nothing was paid here")
}

// TestBatchWithOneWrongInvoiceIsRefused: the service's error names the row, and nothing was issued.
func TestBatchWithOneWrongInvoiceIsRefused(t *testing.T) {
	w := newAppWorld(t)
	contract := w.activeContract()
	_, err := w.app.Invoices.CreateBatch(t.Context(),
		appapi.InvoiceBatch{{ContractID: contract, Items: lines()}, {ContractID: id2, Items: lines()}})
	refused := as[*errors.ValidationFailed](t, err)
	require.Len(t, refused.Fields, 1)
	assert.Equal(t, "1.contractId", refused.Fields[0].Field)
	list, err := w.app.Invoices.List(t.Context(), appapi.ListInvoicesParams{})
	require.NoError(t, err)
	assert.Empty(t, list.Items)

	issued, err := w.app.Invoices.CreateBatch(t.Context(), appapi.InvoiceBatch{{ContractID: contract, Items: lines()}})
	require.NoError(t, err, "without the bad row")
	assert.Len(t, issued, 1)
}

// activeContract is a contract that both sides have accepted.
func (w *appWorld) activeContract() string {
	w.Helper()
	offered, err := w.app.Contracts.Create(w.Context(), appapi.ContractCreate{
		ContractorEmail: "carl@example.com", Type: model.ContractTypeService,
		Fields: appapi.ContractFields{Amount: price("300"), Currency: model.FiatCurrencyUSD},
	})
	require.NoError(w, err)
	w.Host.Advance(time.Minute) // in which its contractor does
	accepted, err := w.app.Contracts.Approve(w.Context(), offered.ID)
	require.NoError(w, err)
	require.Equal(w, model.ContractStatusActive, accepted.Status)
	return offered.ID
}

// TestCardLimitOfZero: a limit of zero is a limit.
func TestCardLimitOfZero(t *testing.T) {
	w := newAppWorld(t)
	card, err := w.app.Cards.Create(t.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual})
	require.NoError(t, err)
	card, err = w.app.Cards.SetLimit(t.Context(), card.ID, appapi.CardLimitUpdate{DailyLimit: model.Set(number("0"))})
	require.NoError(t, err)
	assert.True(t, card.Limit.DailyLimit.IsZero())
	assert.False(t, card.Limit.MonthlyLimit.IsZero(), "what is not given stays")
}

func TestTheHostRefusesADocumentOverItsBound(t *testing.T) {
	w := newAppWorld(t)
	require.NoError(t, w.Host.Configure(func(s *sandbox.Settings) { s.MaxUpload = 100 }))
	for size, fits := range map[int]bool{100: true, 101: false} {
		_, err := w.app.Documents.Upload(t.Context(),
			appapi.DocumentUpload{Content: strings.NewReader(strings.Repeat("x", size)),
				Type: appapi.DocumentKindInvoice})
		if fits {
			require.NoError(t, err)
		} else {
			as[*errors.PayloadTooLarge](t, err)
		}
	}
}

func TestACardShowsItsNumberToItsWalletOnly(t *testing.T) {
	w := newAppWorld(t)
	card, err := w.app.Cards.Create(t.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual})
	require.NoError(t, err)
	w.Host.Advance(time.Minute)
	right := w.Host.Credentials().Wallet
	details, err := w.app.Cards.Details(t.Context(), card.ID, right)
	require.NoError(t, err)
	assert.Len(t, details.CardNumber.Reveal(), 16)

	wrong, err := wallet.Generate()
	require.NoError(t, err)
	_, err = w.app.Cards.Details(t.Context(), card.ID, wrong)
	as[*errors.SignatureInvalid](t, err)

	for age, good := range map[time.Duration]bool{-4 * time.Minute: true, -6 * time.Minute: false} {
		proof, err := model.SignCardDetails(t.Context(), right, card.ID, w.Host.Now().Add(age))
		require.NoError(t, err)
		_, err = w.app.Cards.DetailsWithProof(t.Context(), card.ID, proof)
		if good {
			require.NoError(t, err)
		} else {
			assert.Equal(t, "nonce", as[*errors.ValidationFailed](t, err).Fields[0].Field)
		}
	}
}

// TestAUsedNonceIsReplacedOnce: the host takes a nonce once. After a lost response, or beside another process that
// reveals in the same second, the SDK signs another one.
func TestAUsedNonceIsReplacedOnce(t *testing.T) {
	w := newAppWorld(t)
	card, err := w.app.Cards.Create(t.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual})
	require.NoError(t, err)
	w.Host.Advance(time.Minute)
	key := w.Host.Credentials().Wallet
	w.Host.Arm("POST", "/cards/{card_id}/details", sandbox.DropAfterCommit())
	_, err = w.app.Cards.Details(t.Context(), card.ID, key)
	require.NoError(t, err)

	other := w.App(w.AppKey()) // each has its own memory of the nonces that it used
	_, err = other.Account.App(t.Context())
	require.NoError(t, err)
	_, err = other.Cards.Details(t.Context(), card.ID, key)
	require.NoError(t, err)

	w.Host.Arm("POST", "/cards/{card_id}/details", sandbox.Respond(http.StatusConflict, "conflict").Times(3))
	_, err = w.app.Cards.Details(t.Context(), card.ID, key)
	as[*errors.Conflict](t, err)
	_, err = w.app.Cards.Details(t.Context(), card.ID, key)
	require.NoError(t, err, "two signatures a call: the third conflict met the second of this one")
}

// An app key is accepted in either header. It is not an access token of the reference endpoints, and their token is not
// an app key.
func TestAppKeyHeaders(t *testing.T) {
	w := newAppWorld(t)
	_, err := w.App(w.AppKey().InKeyHeader()).Account.App(t.Context())
	require.NoError(t, err)

	credentials := w.Host.Credentials()
	reference := w.Reference(refapi.Credential{AccessToken: refapi.NewAccessToken(credentials.APIKey.Reveal())})
	_, err = reference.Cards.List(t.Context())
	require.Error(t, err)
	_, err = w.client(appapi.NewAPIKey(credentials.AccessToken.Reveal())).Account.App(t.Context())
	as[*errors.Unauthenticated](t, err)
}

func TestAppKeyLimitsAndScopes(t *testing.T) {
	w := newAppWorld(t)
	limit := price("20")
	small := w.registered(sandbox.AppKeyRegistration{SpendLimit: &limit})
	bob := w.bob()
	_, err := small.Transfers.Send(t.Context(), appapi.ToContact{ContactID: bob, Amount: price("15")}, "first")
	require.NoError(t, err)
	_, err = small.Transfers.Send(t.Context(), appapi.ToContact{ContactID: bob, Amount: price("5.01")}, "second")
	require.Error(t, err)
	me, err := small.Account.App(t.Context())
	require.NoError(t, err)
	require.NotNil(t, me.RemainingSpendLimit)
	assert.Equal(t, "5", me.RemainingSpendLimit.String())
	assert.Equal(t, "185", w.balance())

	reader := w.registered(sandbox.AppKeyRegistration{Scopes: []string{"read"}})
	_, err = reader.Transfers.Send(t.Context(), appapi.ToContact{ContactID: bob, Amount: price("1")}, "third")
	refused := as[*errors.Forbidden](t, err)
	assert.NotEmpty(t, refused.RequiredScope)
	assert.Equal(t, []string{"read"}, refused.Scope)
}

// TestTransactionsAreFiltered by each of the query's filters.
func TestTransactionsAreFiltered(t *testing.T) {
	w := newAppWorld(t)
	_, err := w.app.Transfers.Send(t.Context(), appapi.ToContact{ContactID: w.bob(), Amount: price("1")}, "rent-1")
	require.NoError(t, err)
	count := func(params appapi.ListTransactionsParams) (count int) {
		params.Limit = 1 // so that the walk has pages
		for _, err := range w.app.Transactions.All(t.Context(), params) {
			require.NoError(t, err)
			count++
		}
		return count
	}
	all, err := w.app.Transactions.List(t.Context(), appapi.ListTransactionsParams{})
	require.NoError(t, err)
	require.Len(t, all.Items, 3)
	assert.Equal(t, 3, count(appapi.ListTransactionsParams{}))
	assert.Equal(t, 2, count(appapi.ListTransactionsParams{IncomeOnly: true}))
	assert.Equal(t, 3, count(appapi.ListTransactionsParams{Type: []string{"sepa", all.Items[0].Type}}))
	assert.Zero(t, count(appapi.ListTransactionsParams{Type: []string{"sepa", "ach"}}))
	assert.Equal(t, 3, count(appapi.ListTransactionsParams{Status: all.Items[0].Status}))
	assert.Zero(t, count(appapi.ListTransactionsParams{Status: "failed"}))
	assert.Zero(t, count(appapi.ListTransactionsParams{BankAccountID: "bnk_none"}))
	assert.Equal(t, 2, count(appapi.ListTransactionsParams{Offset: 1}))
}

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"
)

func price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func number(text string) model.Number { return model.NewNumber(price(text)) }

func lines() []model.LineItem {
	return []model.LineItem{{Name: "Design", Quantity: number("1.5"), Price: price("80.00")}}
}

func TestACardIsProvedByItsWallet(t *testing.T) {
	key, err := wallet.Generate()
	require.NoError(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 999, time.FixedZone("east", 3600))
	for name, c := range map[string]struct {
		signer  model.CardSigner
		message string
	}{
		"the usual message": {key, fmt.Sprintf("Reveal card card_1 at %d", at.Unix())},
		"another message": {model.WithCardMessage(key, func(id string, nonce int64) string {
			return fmt.Sprintf("%s:%d", id, nonce)
		}), fmt.Sprintf("card_1:%d", at.Unix())},
	} {
		proof, err := model.SignCardDetails(t.Context(), c.signer, "card_1", at)
		require.NoError(t, err, name)
		assert.Equal(t, at.Unix(), proof.Nonce, name)
		signer, err := wallet.RecoverAddress([]byte(c.message), proof.MessageSignature.Reveal())
		require.NoError(t, err, name)
		assert.Equal(t, key.Address(), signer, name)
	}
}

// What these writes return is not described: any success is one. The resource is read where it can be, and the response
// is there all the same.
func TestSuccessWithoutAResource(t *testing.T) {
	w := newAppWorld(t)
	card, err := w.app.Cards.Create(t.Context(), appapi.CardCreate{Format: "virtual"})
	require.NoError(t, err)
	contract, err := w.app.Contracts.Create(t.Context(),
		appapi.ContractCreate{ContractorEmail: "bob@example.com", Type: model.ContractTypeService})
	require.NoError(t, err)
	invoice, err := w.app.Invoices.Create(t.Context(), appapi.InvoiceCreate{
		Currency: "USD", ClientEmail: "acme@example.com", ContractorEmail: "bob@example.com",
		Items: []model.LineItem{{Name: "Work", Quantity: model.NewNumber(price("1")), Price: price("10")}},
	})
	require.NoError(t, err)
	contact := w.bob()
	for name, c := range map[string]struct {
		method, path string
		call         func(moneymovement.CallOption) (shown string, err error)
		want         string // of what was read
	}{
		"UpdateProfile": {"PUT", "/user/kyc", func(o moneymovement.CallOption) (string, error) {
			profile, err := w.app.Account.UpdateProfile(t.Context(), appapi.ProfileUpdate{FirstName: model.Set("Ann")},
				o)
			return profile.FirstName, err
		}, "Ann"},
		"CreateKYCLink": {"POST", "/user/kyc_link", func(o moneymovement.CallOption) (string, error) {
			link, err := w.app.Account.KYCLink(t.Context(), o)
			return link.URL, err
		}, ""},
		"UpdateContact": {"PATCH", "/user/contacts/{contact_id}", func(o moneymovement.CallOption) (string, error) {
			updated, err := w.app.Contacts.Update(t.Context(), contact, appapi.ContactUpdate{Name: model.Set("Rob")}, o)
			return updated.ID, err
		}, ""},
		"UpdateInvoice": {"PUT", "/documents/contracts/invoices/{invoice_id}",
			func(o moneymovement.CallOption) (string, error) {
				updated, err := w.app.Invoices.MarkPaid(t.Context(), invoice.ID, appapi.InvoicePayment{}, o)
				return string(updated.Status), err
			}, "paid"},
		"UpdateContract": {"PATCH", "/documents/contracts/{contract_id}",
			func(o moneymovement.CallOption) (string, error) {
				updated, err := w.app.Contracts.Update(t.Context(), contract.ID,
					appapi.ContractUpdate{Label: model.Set("A")}, o)
				return updated.ID, err
			}, contract.ID},
		"ReplacePaymentMethods": {"PUT", "/documents/contracts/{contract_id}/payment_methods",
			func(o moneymovement.CallOption) (string, error) {
				updated, err := w.app.Contracts.ReplacePaymentMethods(t.Context(), contract.ID, nil, o)
				return updated.ID, err
			}, contract.ID},
		"ActivateBanks": {"POST", "/banks/activate", func(o moneymovement.CallOption) (string, error) {
			banks, err := w.app.Banks.Activate(t.Context(), nil, o)
			if len(banks) > 0 {
				return "banks", err
			}
			return "", err
		}, "banks"},
		"SetCardLabel": {"PUT", "/cards/{card_id}/label", func(o moneymovement.CallOption) (string, error) {
			updated, err := w.app.Cards.SetLabel(t.Context(), card.ID, "Travel", o)
			return updated.Label, err
		}, "Travel"},
		"FreezeCard": {"POST", "/cards/{card_id}/freeze", func(o moneymovement.CallOption) (string, error) {
			frozen, err := w.app.Cards.Freeze(t.Context(), card.ID, o)
			return frozen.ID, err
		}, card.ID},
		"UnfreezeCard": {"POST", "/cards/{card_id}/unfreeze", func(o moneymovement.CallOption) (string, error) {
			thawed, err := w.app.Cards.Unfreeze(t.Context(), card.ID, o)
			return thawed.ID, err
		}, card.ID},
		"CreateCardKYCLink": {"POST", "/cards/kyc/link", func(o moneymovement.CallOption) (string, error) {
			link, err := w.app.Cards.KYCLink(t.Context(), o)
			return link.URL, err
		}, ""},
	} {
		for body, status := range map[string]int{"": http.StatusNoContent, `{"ok":true}`: http.StatusAccepted,
			`true`: http.StatusOK} {
			t.Run(name+" "+body, func(t *testing.T) {
				armed := w.Host.Arm(c.method, c.path, sandbox.Respond(status, "").WithBody(body).AfterCommit())
				var response moneymovement.Response
				shown, err := c.call(moneymovement.CaptureResponse(&response))
				require.NoError(t, err)
				assert.Equal(t, 1, armed.Consumed())
				assert.Equal(t, c.want, shown)
				assert.Equal(t, status, response.Status)
				assert.Equal(t, body, string(response.Body))
			})
		}
	}
}

// A transfer is proven by its hash, a reveal by all that it reveals. What does not show it may have happened.
func TestUnprovenWriteIsInDoubt(t *testing.T) {
	w := newAppWorld(t)
	to := appapi.ToContact{ContactID: w.bob(), Amount: price("5")}
	for _, body := range []string{`{}`, `{"txHash":""}`, `{"txHash":null}`, `{"txHash":{}}`, `{"ok":true}`} {
		w.app = w.client(w.AppKey()) // which knows of no earlier call
		w.Host.Arm("POST", "/apps/transfer", sandbox.Respond(http.StatusOK, "").WithBody(body).AfterCommit())
		_, err := w.app.Transfers.Send(t.Context(), to, "transfer-1")
		inDoubt, is := errors.AsType[*errors.InDoubt](err)
		require.True(t, is, "%s: %v", body, err)
		assert.Equal(t, errors.MaybeMoved, inDoubt.MovedByCall())
	}
	receipt, err := w.app.Transfers.Send(t.Context(), to, "transfer-1")
	require.NoError(t, err)
	assert.NotEmpty(t, receipt.TxHash)
	assert.Equal(t, "195", w.balance(), "it happened once")
}

// An absent member stays, and null and an empty text clear it.
func TestTextFieldsAreCleared(t *testing.T) {
	w := newAppWorld(t)
	bob := w.bob()
	for _, none := range []model.Nullable[string]{model.Set(""), model.Null[string]()} {
		contact, err := w.app.Contacts.Update(t.Context(), bob,
			appapi.ContactUpdate{Name: model.Set("Bob"), Relationship: model.Set("external")})
		require.NoError(t, err)
		assert.Equal(t, "external", contact.Relationship)
		contact, err = w.app.Contacts.Update(t.Context(), bob, appapi.ContactUpdate{Relationship: none})
		require.NoError(t, err)
		assert.Equal(t, "Bob", contact.Name)
		assert.Empty(t, contact.Relationship)

		_, err = w.app.Account.UpdateProfile(t.Context(),
			appapi.ProfileUpdate{FirstName: model.Set("Ann"), LastName: model.Set("Roe")})
		require.NoError(t, err)
		profile, err := w.app.Account.UpdateProfile(t.Context(), appapi.ProfileUpdate{LastName: none})
		require.NoError(t, err)
		assert.Equal(t, "Ann", profile.FirstName)
		assert.Empty(t, profile.LastName)

		id := w.activeContract()
		_, err = w.app.Contracts.Update(t.Context(), id, appapi.ContractUpdate{
			Label: model.Set("Design"), PriorityMethods: model.Set([]model.PriorityMethod{model.PriorityMethodSEPA}),
		})
		require.NoError(t, err)
		contract, err := w.app.Contracts.Update(t.Context(), id, appapi.ContractUpdate{
			Label: none, PriorityMethods: model.Set([]model.PriorityMethod{}),
		})
		require.NoError(t, err)
		assert.Empty(t, contract.Label)
		assert.Empty(t, contract.PriorityMethods)
		assert.Equal(t, "300", contract.Amount.String())
	}
	card, err := w.app.Cards.Create(t.Context(), appapi.CardCreate{})
	require.NoError(t, err)
	_, err = w.app.Cards.SetLabel(t.Context(), card.ID, "Travel")
	require.NoError(t, err)
	card, err = w.app.Cards.SetLabel(t.Context(), card.ID, "")
	require.NoError(t, err)
	assert.Empty(t, card.Label)
}

// A contact's id with its prefix serves everywhere but in a transfer.
func TestContactIDWithItsPrefix(t *testing.T) {
	w := newAppWorld(t)
	id := "ct_" + w.bob()
	contact, err := w.app.Contacts.Update(t.Context(), id, appapi.ContactUpdate{Name: model.Set("Robert")})
	require.NoError(t, err)
	assert.Equal(t, "Robert", contact.Name)
	quote, err := w.app.Quotes.Payout(t.Context(), appapi.BalancePayoutQuote{ContactID: id, Amount: price("10")})
	require.NoError(t, err)
	_, err = w.app.Transfers.Send(t.Context(), appapi.ToContact{ContactID: id, Amount: price("10")}, "by-prefix")
	assert.Equal(t, "contactId", as[*errors.InvalidInput](t, err).Fields[0].Field)
	_, err = w.app.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: quote.QuoteID}, "by-quote")
	require.NoError(t, err)
	require.NoError(t, w.app.Contacts.Delete(t.Context(), id))
}

// What the host assumes as the SDK's description does, the host refuses: the SDK has sent it.
func TestHostChecksAssumedConstraints(t *testing.T) {
	w := newAppWorld(t)
	for name, c := range map[string]struct {
		call        func() error
		field, code string
	}{
		"a page of 101": {func() error {
			_, err := w.app.Contacts.List(t.Context(), appapi.ListContactsParams{Limit: 101})
			return err
		}, "limit", "less_than_equal"},
		"an invoice without lines": {func() error {
			_, err := w.app.Invoices.Create(t.Context(),
				appapi.InvoiceCreate{Currency: "USD", ClientEmail: "a@example.com"})
			return err
		}, "items", "missing"},
		"a line that costs less than nothing": {func() error {
			line := model.LineItem{Name: "Advice", Quantity: number("1"), Price: price("-1")}
			_, err := w.app.Invoices.Create(t.Context(),
				appapi.InvoiceCreate{Currency: "USD", ClientEmail: "a@example.com", Items: []model.LineItem{line}})
			return err
		}, "items.0.price", "greater_than_equal"},
		"a negative transfer": {func() error {
			_, err := w.app.Transfers.Send(t.Context(), appapi.ToContact{ContactID: w.bob(), Amount: price("-1")}, "k")
			return err
		}, "amount", "greater_than"},
		"a quote of nothing": {func() error {
			_, err := w.app.Quotes.SubmitPayin(t.Context(), "")
			return err
		}, "quoteId", "missing"},
		"no document": {func() error {
			_, err := w.app.Documents.Upload(t.Context(), appapi.DocumentUpload{})
			return err
		}, "base64", "missing"},
		"an invoice by its number": {func() error {
			_, err := w.app.Invoices.Get(t.Context(), "INV 7=é")
			return err
		}, "invoice_id", "uuid_parsing"},
	} {
		t.Run(name, func(t *testing.T) {
			refused := as[*errors.ValidationFailed](t, c.call())
			require.Len(t, refused.Fields, 1)
			assert.Equal(t, c.field, refused.Fields[0].Field)
			assert.Equal(t, c.code, refused.Fields[0].Code)
		})
	}
	assert.Equal(t, "200", w.balance())
}
