package dapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
)

// TestBadInputIsRefusedBeforeAnythingIsSent: not even the login happens.
// Rule: error.missing, page.limit, page.cursor-size, size.payment-reference, size.purpose, size.document-ids
// Rule: size.payout-public-key, size.signature, size.contact-name, size.contact-currency, size.id-prefix
// Rule: contact.onchain, idempotency.pattern
func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	valid := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"), Currency: dapi.USDC}
	payout := func(change func(*dapi.PayoutCreate)) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			asked := valid
			change(&asked)
			_, bookErr := i.Self().Payouts.Book(ctx, asked)
			_, payErr := i.Self().Payouts.Pay(ctx, asked, "invoice-42", dapi.PayTerms{})
			if (bookErr == nil) != (payErr == nil) {
				return errors.New("Book and Pay judge differently")
			}
			return payErr
		}
	}
	contact := func(change dapi.ContactCreate) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Create(ctx, change)
			return err
		}
	}
	update := func(id dapi.ContactID, change dapi.ContactUpdate) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Update(ctx, id, change)
			return err
		}
	}
	get := func(id dapi.PayoutID) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Get(ctx, id)
			return err
		}
	}
	payin := func(id dapi.PayinID) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payins.Get(ctx, id)
			return err
		}
	}
	sync := func(id dapi.EscrowID) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Sync(ctx, id)
			return err
		}
	}
	open := func(change func(*dapi.EscrowCreate)) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			asked := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC, Payee: "0x1"}
			change(&asked)
			_, createErr := i.Self().Escrows.Create(ctx, asked)
			_, openErr := i.Self().Escrows.Open(ctx, asked, "deal-42", dapi.DealTerms{})
			if (createErr == nil) != (openErr == nil) {
				return errors.New("Create and Open judge differently")
			}
			return openErr
		}
	}
	acting := func(client dapi.ClientID) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error { return read(ctx, i.For(client)) }
	}
	list := func(params dapi.ListTransactionsParams) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			for _, err := range i.Self().Transactions.All(ctx, params) {
				return err
			}
			return nil
		}
	}
	keyed := func(key moneymovement.Key) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Pay(ctx, valid, key, dapi.PayTerms{})
			return err
		}
	}

	for name, c := range map[string]struct {
		call        func(context.Context, *dapi.Integrator) error
		field, code string
	}{
		"no contact": {payout(func(p *dapi.PayoutCreate) { p.ContactID = "" }), "contactId",
			"missing"},
		"a payout's id for a contact's": {payout(func(p *dapi.PayoutCreate) { p.ContactID = "po_1" }), "contactId",
			"invalid_id"},
		"a client's id for a contact's": {payout(func(p *dapi.PayoutCreate) { p.ContactID = "cl_1" }), "contactId",
			"invalid_id"},
		"a contact id with a slash": {payout(func(p *dapi.PayoutCreate) { p.ContactID = "ct_1/2" }), "contactId",
			"pattern"},
		"no amount": {payout(func(p *dapi.PayoutCreate) { p.Amount = amount("0") }), "amount",
			"missing"},
		"a negative amount": {payout(func(p *dapi.PayoutCreate) { p.Amount = amount("-1") }), "amount",
			"too_small"},
		"an amount like a bomb": {payout(func(p *dapi.PayoutCreate) { p.Amount = decimal.New(1, 999_999_999) }),
			"amount", "too_long"},
		"no currency": {payout(func(p *dapi.PayoutCreate) { p.Currency = "" }), "currency",
			"missing"},
		"a reference of 141": {payout(func(p *dapi.PayoutCreate) {
			p.PaymentReference = strings.Repeat("€", 141)
		}), "paymentReference", "too_long"},
		"a purpose of 65": {payout(func(p *dapi.PayoutCreate) { p.Purpose = strings.Repeat("ß", 65) }),
			"purpose", "too_long"},
		"eleven documents": {payout(func(p *dapi.PayoutCreate) { p.DocumentIDs = make11() }),
			"documentIds", "too_many"},
		"an empty key":            {keyed(""), "Idempotency-Key", "missing"},
		"a key with a space":      {keyed("invoice 42"), "Idempotency-Key", "pattern"},
		"a key with a line break": {keyed("invoice\r\nX-Service-Account: cl_1"), "Idempotency-Key", "pattern"},
		"a key of 129": {keyed(moneymovement.Key(strings.Repeat("k", 129))), "Idempotency-Key",
			"pattern"},
		"an empty id":                   {get(""), "payoutId", "missing"},
		"a contact's id for a payout's": {get("ct_1"), "payoutId", "invalid_id"},
		"an id that steps up":           {get(".."), "payoutId", "pattern"},
		"an id that climbs":             {get("po_../../clients"), "payoutId", "pattern"},
		"an id in percent":              {get("po_%2e%2e"), "payoutId", "pattern"},
		"acting for nobody":             {acting(""), "X-Service-Account", "missing"},
		"acting for a contact":          {acting("ct_1"), "X-Service-Account", "invalid_id"},
		"acting for two":                {acting("cl_1\r\nAuthorization: x"), "X-Service-Account", "pattern"},
		"a page of 101":                 {list(dapi.ListTransactionsParams{Limit: 101}), "limit", "too_large"},
		"a page of -1":                  {list(dapi.ListTransactionsParams{Limit: -1}), "limit", "too_small"},
		"a cursor of 513": {list(dapi.ListTransactionsParams{Cursor: strings.Repeat("c", 513)}), "cursor",
			"too_long"},
		"a contact's name of 201": {contact(dapi.ContactCreate{Name: strings.Repeat("n", 201)}), "name",
			"too_long"},
		"a bank account without method": {
			contact(dapi.ContactCreate{Account: dapi.NewContactAccount(dapi.BankAccount{})}),
			"account.accountType", "missing"},
		"a variant by pointer": {contact(dapi.ContactCreate{Account: dapi.NewContactAccount(&dapi.BankAccount{})}),
			"account.accountType", "unknown_variant"},
		"a variant that is nil": {
			contact(dapi.ContactCreate{Account: dapi.NewContactAccount((*dapi.BankAccount)(nil))}),
			"account.accountType", "unknown_variant"},
		"a wallet without address": {
			contact(dapi.ContactCreate{Account: dapi.Onchain(dapi.OnchainAccount{ChainID: "base", Currency: "USDC"})}),
			"account.walletAddress", "missing"},
		"no email": {contact(dapi.ContactCreate{Account: dapi.EmailContact("")}), "account.email",
			"missing"},
		"a bank field that is given twice": {contact(dapi.ContactCreate{Bank: &dapi.BankDestination{
			Method: "sepa", Currency: "EUR", Fields: map[string]any{}, Holder: map[string]any{},
			AdditionalProperties: map[string]any{"method": "ach"},
		}}), "bank.method", "duplicate"},
		"a payout's id without its prefix": {get("1"), "payoutId", "pattern"},
		"acting for a name":                {acting("acme"), "X-Service-Account", "pattern"},
		"a deal without payee":             {open(func(e *dapi.EscrowCreate) { e.Payee = "" }), "payee", "missing"},
		"a deal without currency": {open(func(e *dapi.EscrowCreate) { e.Currency = "" }), "currency",
			"missing"},
		"a deal over nothing": {open(func(e *dapi.EscrowCreate) { e.Amount = amount("0") }), "amount",
			"missing"},
		"a deal over less than nothing": {open(func(e *dapi.EscrowCreate) { e.Amount = amount("-1") }), "amount",
			"too_small"},
		"a window in weeks": {open(func(e *dapi.EscrowCreate) { e.HoldFor = "2w" }), "holdFor",
			"pattern"},
		"a contact's id for an account's": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payins.Create(ctx, dapi.PayinCreate{BankID: "ct_1"})
			return err
		}, "bankId", "invalid_id"},
		"a client without email": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Clients.Create(ctx, dapi.ClientCreate{})
			return err
		}, "email", "missing"},
		"a legacy bank without anything": {contact(dapi.ContactCreate{Bank: &dapi.BankDestination{Method: "sepa",
			Currency: "EUR", Fields: map[string]any{}}}), "bank.holder", "missing"},
		"a payin that steps up":   {payin(".."), "payinId", "pattern"},
		"a deal with a slash":     {sync("esc_1/sync"), "escrowId", "pattern"},
		"a name that is no UTF-8": {contact(dapi.ContactCreate{Name: "Bob\xff"}), "name", "unencodable"},
		"a bank that is no UTF-8": {
			contact(dapi.ContactCreate{Name: "Bob",
				Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000", BankName: "\xff"})}),
			"account.bankName", "unencodable",
		},
		"a legacy bank that is no UTF-8": {
			contact(dapi.ContactCreate{Bank: &dapi.BankDestination{
				Method: "sepa", Currency: "EUR", Holder: map[string]any{"name": "Bob"}, Fields: map[string]any{},
				BankName: "\xff",
			}}),
			"bank.bankName", "unencodable",
		},
		"a contact's currency of none": {update("ct_1", dapi.ContactUpdate{Currency: model.Set("")}), "currency",
			"too_short"},
		"a contact's currency of five": {update("ct_1", dapi.ContactUpdate{Currency: model.Set("EUROS")}), "currency",
			"too_long"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

func make11() []string { return strings.Split("a,b,c,d,e,f,g,h,i,j,k", ",") }

func TestClientsThatCannotBeMade(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	developer := dapi.Developer{Email: "ops@example.com", Key: key}
	for name, c := range map[string]struct {
		baseURL   string
		developer dapi.Developer
		fields    []string
	}{
		"nothing at all": {"https://host.example", dapi.Developer{}, []string{"email", "key"}},
		"no key":         {"https://host.example", dapi.Developer{Email: "ops@example.com"}, []string{"key"}},
		"a key without a key": {"https://host.example",
			dapi.Developer{Email: "ops@example.com", Key: &signing.DeveloperKey{}}, []string{"key"}},
		"a nil key": {"https://host.example",
			dapi.Developer{Email: "ops@example.com", Key: (*signing.DeveloperKey)(nil)}, []string{"key"}},
		"no base URL":           {"", developer, []string{"baseURL"}},
		"plain http":            {"http://host.example", developer, []string{"baseURL"}},
		"a URL with a password": {"https://a:b@host.example", developer, []string{"baseURL"}},
	} {
		t.Run(name, func(t *testing.T) {
			integrator, whitelabelErr := dapi.NewIntegrator(c.baseURL, c.developer)
			account, selfServeErr := dapi.NewSelfServe(c.baseURL, c.developer)
			assert.Nil(t, integrator)
			assert.Nil(t, account)
			for _, err := range []error{whitelabelErr, selfServeErr} {
				var fields []string
				refused := as[*errors.InvalidInput](t, err)
				for _, field := range refused.Fields {
					fields = append(fields, field.Field)
				}
				assert.Equal(t, c.fields, fields)
				assert.Equal(t, "New", refused.Operation)
			}
		})
	}
}

// counted is an integrator and the number of requests that it has sent, the login included.
func counted(t *testing.T) (*dapi.Integrator, *atomic.Int32) {
	t.Helper()
	sent := new(atomic.Int32)
	w := &inprocess.Transport{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) })}
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: w}))
	require.NoError(t, err)
	return integrator, sent
}

// refusedUnsent expects that a call refuses one field of its input and sends nothing, not even a login.
func refusedUnsent(t *testing.T, call func(context.Context, *dapi.Integrator) error, field, code string) {
	t.Helper()
	integrator, sent := counted(t)
	refused := as[*errors.InvalidInput](t, call(t.Context(), integrator))
	require.Len(t, refused.Fields, 1)
	assert.Equal(t, field, refused.Fields[0].Field)
	assert.Equal(t, code, refused.Fields[0].Code)
	assert.NotEmpty(t, refused.Fields[0].Message)
	assert.NotEmpty(t, refused.Operation)
	assert.Zero(t, sent.Load())
}

// waits are all methods that wait.
var waits = map[string]func(context.Context, *dapi.Integrator, ...moneymovement.WaitOption) error{
	"Clients.WaitReady": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Clients.WaitReady(ctx, "cl_1", o...)
		return err
	},
	"Verification.WaitDecided": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.For("cl_1").Verification.WaitDecided(ctx, o...)
		return err
	},
	"Rails.WaitActive": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.For("cl_1").Rails.WaitActive(ctx, "sepa", "EUR", o...)
		return err
	},
	"Payins.Wait": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Self().Payins.Wait(ctx, "pi_1", o...)
		return err
	},
	"Payouts.Wait": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Self().Payouts.Wait(ctx, "po_1", o...)
		return err
	},
	"Payouts.WaitAll": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		for result := range i.Self().Payouts.WaitAll(ctx, []dapi.PayoutID{"po_1"}, o...) {
			return result.Err
		}
		return nil
	},
	"Escrows.Wait": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Self().Escrows.Wait(ctx, "esc_1", []dapi.EscrowStatus{dapi.EscrowStatusReleased}, o...)
		return err
	},
}

func TestInvalidWaitOptionsAreRefused(t *testing.T) {
	options := map[string]struct {
		option      moneymovement.WaitOption
		field, code string
	}{
		"pauses of zero":     {moneymovement.PollEvery(0, 0), "PollEvery", "out_of_range"},
		"negative pauses":    {moneymovement.PollEvery(-time.Second, time.Second), "PollEvery", "out_of_range"},
		"too short a pause":  {moneymovement.PollEvery(time.Millisecond-1, time.Second), "PollEvery", "out_of_range"},
		"too long a pause":   {moneymovement.PollEvery(time.Second, 24*time.Hour+1), "PollEvery", "out_of_range"},
		"the longer first":   {moneymovement.PollEvery(time.Minute, time.Minute-1), "PollEvery", "out_of_range"},
		"a nil OnProgress":   {moneymovement.OnProgress(nil), "OnProgress", "missing"},
		"one of two invalid": {moneymovement.PollEvery(time.Second, 0), "PollEvery", "out_of_range"},
	}
	for name, wait := range waits {
		for what, o := range options {
			t.Run(name+" with "+what, func(t *testing.T) {
				refusedUnsent(t, func(ctx context.Context, i *dapi.Integrator) error {
					return wait(ctx, i, nil, o.option)
				}, o.field, o.code)
			})
		}
	}
}

func TestInvalidArgumentsOfWaitsAreRefused(t *testing.T) {
	escrow := func(statuses ...dapi.EscrowStatus) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Wait(ctx, "esc_1", statuses)
			return err
		}
	}
	rail := func(method dapi.BankMethod, currency string) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.For("cl_1").Rails.WaitActive(ctx, method, currency)
			return err
		}
	}
	for name, c := range map[string]struct {
		call  func(context.Context, *dapi.Integrator) error
		field string
	}{
		"a deal for no status":    {escrow(), "statuses"},
		"a deal for an empty one": {escrow(dapi.EscrowStatusReleased, ""), "statuses"},
		"a rail without method":   {rail("", "EUR"), "method"},
		"a rail without currency": {rail("sepa", ""), "currency"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, "missing") })
	}
}

func TestInvalidTermsAreRefused(t *testing.T) {
	pay := func(terms dapi.PayTerms) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"),
				Currency: dapi.USDC}, "invoice-42", terms)
			return err
		}
	}
	bounded := func(bounds dapi.Bounds) func(context.Context, *dapi.Integrator) error {
		return pay(dapi.PayTerms{Bounds: bounds})
	}
	atMost := func(fee decimal.Decimal) func(context.Context, *dapi.Integrator) error {
		return bounded(dapi.Bounds{MaxFee: &fee})
	}
	atLeast := func(least decimal.Decimal) func(context.Context, *dapi.Integrator) error {
		return bounded(dapi.Bounds{MinDestinationAmount: &least, DestinationCurrency: "EUR"})
	}
	tolerant := func(part decimal.Decimal) func(context.Context, *dapi.Integrator) error {
		return bounded(dapi.Bounds{QuoteTolerance: part})
	}
	known := func(history dapi.History) func(context.Context, *dapi.Integrator) error {
		return pay(dapi.PayTerms{History: history})
	}
	open := func(history dapi.History) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Open(ctx, dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
				Payee: "0x1"}, "deal-42", dapi.DealTerms{History: history})
			return err
		}
	}
	act := func(history dapi.History) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Act(ctx, dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
				Payee: "0x1"}, "esc_1", dapi.EscrowActionTypeRelease, "release-42", dapi.DealTerms{History: history})
			return err
		}
	}
	tomorrow := dapi.History{FirstUsed: time.Now().Add(24 * time.Hour)}
	for name, c := range map[string]struct {
		call        func(context.Context, *dapi.Integrator) error
		field, code string
	}{
		"a negative fee":                   {atMost(amount("-0.01")), "MaxFee", "out_of_range"},
		"a negative minimum":               {atLeast(amount("-1")), "MinDestinationAmount", "out_of_range"},
		"a negative tolerance":             {tolerant(amount("-0.1")), "QuoteTolerance", "out_of_range"},
		"a tolerance of all":               {tolerant(decimal.NewFromInt(1)), "QuoteTolerance", "out_of_range"},
		"a fee of too many digits":         {atMost(decimal.New(1, 999_999_999)), "MaxFee", "too_long"},
		"a fee of a long text":             {atMost(amount(strings.Repeat("1", 9_000))), "MaxFee", "too_long"},
		"a minimum of too many digits":     {atLeast(decimal.New(1, 999_999_999)), "MinDestinationAmount", "too_long"},
		"a tolerance of too many decimals": {tolerant(decimal.New(1, -999_999_999)), "QuoteTolerance", "too_long"},
		"a quote of too many digits": {bounded(dapi.Bounds{NoWorseThan: &dapi.Quote{
			SourceAmount: decimal.New(1, 999_999_999), SourceCurrency: "USDC", DestinationAmount: amount("1"),
			DestinationCurrency: "EUR"}}), "NoWorseThan", "too_long"},
		"a first use in the future":           {known(tomorrow), "History.FirstUsed", "out_of_range"},
		"a deal's first use in the future":    {open(tomorrow), "History.FirstUsed", "out_of_range"},
		"the path of another payout":          {known(dapi.History{PayoutID: ".."}), "History.PayoutID", "pattern"},
		"a payout's history of a deal":        {known(dapi.History{EscrowID: "e_1"}), "History.EscrowID", "unexpected"},
		"a deal's history of a payout":        {open(dapi.History{PayoutID: "po_1"}), "History.PayoutID", "unexpected"},
		"an action's history of another deal": {act(dapi.History{EscrowID: "esc_2"}), "History.EscrowID", "unexpected"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

// The terms that an approval is compared with are needed where it is signed as well as where it is booked.
func TestTermsThatNoApprovalCanHaveAreRefused(t *testing.T) {
	confirm := func(asked dapi.PayoutCreate) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Confirm(ctx, asked, &dapi.Payout{ID: "po_1"})
			return err
		}
	}
	act := func(terms dapi.EscrowCreate) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			deals := i.Self().Escrows
			_, actErr := deals.Act(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, "release-42", dapi.DealTerms{})
			_, confirmErr := deals.Confirm(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, &dapi.EscrowAction{})
			if (actErr == nil) != (confirmErr == nil) {
				return errors.New("Act and Confirm judge differently")
			}
			_ = as[*errors.InvalidInput](t, confirmErr)
			return actErr
		}
	}
	for name, c := range map[string]struct {
		call        func(context.Context, *dapi.Integrator) error
		field, code string
	}{
		"a payout of a negative amount": {confirm(dapi.PayoutCreate{Amount: amount("-25"), Currency: dapi.USDC}),
			"amount", "too_small"},
		"a payout of too many digits": {confirm(dapi.PayoutCreate{Amount: decimal.New(1, 999_999_999),
			Currency: dapi.USDC}), "amount", "too_long"},
		"a deal of too many digits": {act(dapi.EscrowCreate{Amount: decimal.New(1, 999_999_999), Currency: dapi.USDC,
			Payee: "0x1"}), "amount", "too_long"},
		"a payout of no asset": {confirm(dapi.PayoutCreate{Amount: amount("25")}), "currency", "missing"},
		"a deal of a negative amount": {act(dapi.EscrowCreate{Amount: amount("-25"), Currency: dapi.USDC,
			Payee: "0x1"}), "amount", "too_small"},
		"a deal of no asset":   {act(dapi.EscrowCreate{Amount: amount("25"), Payee: "0x1"}), "currency", "missing"},
		"a deal without payee": {act(dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC}), "payee", "missing"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

// A code that is not a word is refused, and one that names another chain.
func TestInvalidChainNamesAreRefused(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		names map[dapi.ChainCode]dapi.ChainID
		code  string
	}{
		"no id":    {map[dapi.ChainCode]dapi.ChainID{"zero": 0}, "out_of_range"},
		"no code":  {map[dapi.ChainCode]dapi.ChainID{"": 1}, "invalid_format"},
		"a number": {map[dapi.ChainCode]dapi.ChainID{"8453": 42161}, "invalid_format"},
		"no word":  {map[dapi.ChainCode]dapi.ChainID{"e\"th": 1}, "invalid_format"},
		"too long": {map[dapi.ChainCode]dapi.ChainID{dapi.ChainCode(strings.Repeat("a", 33)): 1},
			"invalid_format"},
		"of another chain": {map[dapi.ChainCode]dapi.ChainID{"base": 42161}, "conflict"},

		"the longest":       {map[dapi.ChainCode]dapi.ChainID{dapi.ChainCode(strings.Repeat("a", 32)): 1}, ""},
		"what is known":     {map[dapi.ChainCode]dapi.ChainID{"base": 8453}, ""},
		"a second of a one": {map[dapi.ChainCode]dapi.ChainID{"base-mainnet": 8453}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dapi.NewIntegrator(baseURL,
				dapi.Developer{Email: "ops@example.com", Key: key, ChainNames: tc.names})
			if tc.code == "" {
				require.NoError(t, err)
				return
			}
			refused := as[*errors.InvalidInput](t, err)
			require.Len(t, refused.Fields, 1)
			assert.Equal(t, "chainNames", refused.Fields[0].Field)
			assert.Equal(t, tc.code, refused.Fields[0].Code)
		})
	}
}
