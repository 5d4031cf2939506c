package dapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
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
