package dapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Bad input is refused before the login.
// Rule: error.missing, page.limit, page.cursor-size, size.payment-reference, size.purpose, size.document-ids
// Rule: size.payout-public-key, size.signature, size.contact-name, size.contact-currency, size.id-prefix
// Rule: contact.onchain, contact.crypto, contact.email, idempotency.pattern
func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	valid := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"), Currency: dapi.USDC}
	payout := func(change func(*dapi.PayoutCreate)) call {
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
	contact := func(change dapi.ContactCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Create(ctx, change)
			return err
		}
	}
	update := func(id dapi.ContactID, change dapi.ContactUpdate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Update(ctx, id, change)
			return err
		}
	}
	get := func(id dapi.PayoutID) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Get(ctx, id)
			return err
		}
	}
	payin := func(id dapi.PayinID) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payins.Get(ctx, id)
			return err
		}
	}
	sync := func(id dapi.EscrowID) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Sync(ctx, id)
			return err
		}
	}
	open := func(change func(*dapi.EscrowCreate)) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			asked := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC, Payee: "0x1"}
			change(&asked)
			_, createErr := i.Self().Escrows.Create(ctx, asked)
			_, openErr := i.Self().Escrows.Open(ctx, asked, "escrow-42", dapi.EscrowTerms{})
			if (createErr == nil) != (openErr == nil) {
				return errors.New("Create and Open judge differently")
			}
			return openErr
		}
	}
	acting := func(client dapi.ClientID) call {
		return func(ctx context.Context, i *dapi.Integrator) error { return read(ctx, i.For(client)) }
	}
	list := func(params dapi.ListTransactionsParams) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			for _, err := range i.Self().Transactions.All(ctx, params) {
				return err
			}
			return nil
		}
	}
	keyed := func(key moneymovement.Key) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Pay(ctx, valid, key, dapi.PayTerms{})
			return err
		}
	}

	for name, c := range map[string]struct {
		call        call
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
		"a public key of 516": {payout(func(p *dapi.PayoutCreate) { p.PublicKey = make([]byte, 385) }), "publicKey",
			"too_long"},
		"a signature of 2,052": {payout(func(p *dapi.PayoutCreate) { p.Signature = make([]byte, 1537) }), "signature",
			"too_long"},
		"an asset in lower case": {payout(func(p *dapi.PayoutCreate) { p.Currency = "usdc" }), "currency",
			"unknown_variant"},
		"an asset behind a blank": {payout(func(p *dapi.PayoutCreate) { p.Currency = " USDC" }), "currency",
			"unknown_variant"},
		"an asset in mixed case": {payout(func(p *dapi.PayoutCreate) { p.Currency = "Eurc" }), "currency",
			"unknown_variant"},
		"a wallet without a chain": {contact(dapi.ContactCreate{Crypto: &dapi.CryptoDestination{Token: "USDC",
			Address: payee}}), "crypto.chain", "missing"},
		"a wallet without a token": {contact(dapi.ContactCreate{Crypto: &dapi.CryptoDestination{Chain: "base",
			Address: payee}}), "crypto.token", "missing"},
		"a wallet of no address": {contact(dapi.ContactCreate{Crypto: &dapi.CryptoDestination{Chain: "base",
			Token: "USDC"}}), "crypto.address", "missing"},
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
			contact(dapi.ContactCreate{Account: dapi.NewContactAccount(dapi.BankFields{})}),
			"account.accountType", "missing"},
		"a variant by pointer": {contact(dapi.ContactCreate{Account: dapi.NewContactAccount(&dapi.BankFields{})}),
			"account.accountType", "unknown_variant"},
		"a variant that is nil": {
			contact(dapi.ContactCreate{Account: dapi.NewContactAccount((*dapi.BankFields)(nil))}),
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
		"an escrow without payee":          {open(func(e *dapi.EscrowCreate) { e.Payee = "" }), "payee", "missing"},
		"an escrow without currency": {open(func(e *dapi.EscrowCreate) { e.Currency = "" }), "currency",
			"missing"},
		"an escrow over nothing": {open(func(e *dapi.EscrowCreate) { e.Amount = amount("0") }), "amount",
			"missing"},
		"an escrow over less than nothing": {open(func(e *dapi.EscrowCreate) { e.Amount = amount("-1") }), "amount",
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
		"an escrow with a slash":  {sync("esc_1/sync"), "escrowId", "pattern"},
		"a name that is no UTF-8": {contact(dapi.ContactCreate{Name: "Bob\xff"}), "name", "unencodable"},
		"a bank that is no UTF-8": {
			contact(dapi.ContactCreate{Name: "Bob",
				Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", BankName: "\xff"})}),
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

// The error lists all that is wrong, and how to correct it.
func TestMessagesOfInvalidInput(t *testing.T) {
	book := func(change func(*dapi.PayoutCreate), options ...moneymovement.WriteOption) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"), Currency: dapi.USDC}
			change(&asked)
			_, err := i.Self().Payouts.Book(ctx, asked, options...)
			return err
		}
	}
	open := func(address string, change func(*dapi.Developer)) call {
		return func(context.Context, *dapi.Integrator) error {
			developer := dapi.Developer{Email: "ops@example.com", Key: publicHalf("key")}
			change(&developer)
			_, err := dapi.NewIntegrator(address, developer)
			return err
		}
	}
	asItIs := func(*dapi.Developer) {}
	for says, refused := range map[string]call{
		"baseURL must not end in /dapi/v1: the SDK adds this path": open("https://service.example/dapi/v1/", asItIs),
		"baseURL must be https: plain http would show the credential to the network": open("http://service.example",
			asItIs),
		"baseURL must begin with https://":                       open("service.example", asItIs),
		"baseURL must have a scheme and a host, may have a path": open("https://service.example?a=b", asItIs),
		"email is required": open("https://service.example",
			func(d *dapi.Developer) { d.Email = "" }),
		"key is required": open("https://service.example",
			func(d *dapi.Developer) { d.Key = nil }),
		"BookPayout: invalid input: X-Service-Account (the client of For) is the id of another kind of " +
			"resource (ct_): pass an id that begins with cl_; " +
			"amount is required and must not be zero; currency is required; contactId is required": func(
			ctx context.Context, i *dapi.Integrator,
		) error {
			_, err := i.For("ct_1").Payouts.Book(ctx, dapi.PayoutCreate{})
			return err
		},
		"X-Service-Account (the client of For) is required": func(ctx context.Context, i *dapi.Integrator) error {
			return read(ctx, i.For(""))
		},
		"amount must be positive": book(func(p *dapi.PayoutCreate) { p.Amount = amount("-1") }),
		"did you mean USDC":       book(func(p *dapi.PayoutCreate) { p.Currency = " usdc" }),
		"contactId is the id of another kind of resource (cl_): pass an id that begins with ct_": book(
			func(p *dapi.PayoutCreate) { p.ContactID = "cl_1" }),
		"Idempotency-Key (the key of the call) does not match ^[A-Za-z0-9._:-]{1,128}$": book(
			func(*dapi.PayoutCreate) {}, moneymovement.IdempotencyKey("invoice 42")),
		"GetPayout: invalid input: payoutId is the id of another kind of resource (ct_): " +
			"pass an id that begins with po_": func(
			ctx context.Context, i *dapi.Integrator,
		) error {
			_, err := i.Self().Payouts.Get(ctx, "ct_1")
			return err
		},
		"limit must be at most 100": func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Transactions.List(ctx, dapi.ListTransactionsParams{Limit: 101})
			return err
		},
		"name has 300 characters, but may have at most 200": func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Create(ctx, dapi.ContactCreate{Name: strings.Repeat("n", 300)})
			return err
		},
		"UpdateContact: invalid input: currency has 0 characters, but needs at least 3 (ct_1)": func(
			ctx context.Context, i *dapi.Integrator,
		) error {
			_, err := i.Self().Contacts.Update(ctx, "ct_1", dapi.ContactUpdate{Currency: model.Set("")})
			return err
		},
	} {
		integrator, sent := counted(t)
		err := refused(t.Context(), integrator)
		require.ErrorContains(t, err, says)
		assert.NotContains(t, err.Error(), "\n")
		assert.Zero(t, sent.Load())
	}
}

// The caller must pass the key of a payment. A key of the SDK's own would be lost with the process, and its payment
// could be made twice. The key of an action is part of the path of its confirm, so it may not be "." or "..".
func TestPaymentsNeedAKey(t *testing.T) {
	terms := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC, Payee: payee}
	for _, key := range []moneymovement.Key{"", ".", ".."} {
		option := moneymovement.IdempotencyKey(key)
		for name, refused := range map[string]call{
			"Pay": func(ctx context.Context, i *dapi.Integrator) error {
				payment, err := i.Self().Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"),
					Currency: dapi.USDC}, key, dapi.PayTerms{})
				assert.Equal(t, key == "", payment.Unpaid, "without a key nothing can have been paid")
				return err
			},
			"Open": func(ctx context.Context, i *dapi.Integrator) error {
				_, err := i.Self().Escrows.Open(ctx, terms, key, dapi.EscrowTerms{})
				return err
			},
			"Act": func(ctx context.Context, i *dapi.Integrator) error {
				_, err := i.Self().Escrows.Act(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, key,
					dapi.EscrowTerms{})
				return err
			},
			"Create": func(ctx context.Context, i *dapi.Integrator) error {
				_, err := i.Self().Escrows.Create(ctx, terms, option)
				return err
			},
			"Prepare": func(ctx context.Context, i *dapi.Integrator) error {
				_, err := i.Self().Escrows.Prepare(ctx, "esc_1", dapi.EscrowActionTypeRelease, option)
				return err
			},
		} {
			if name == "Pay" && key != "" {
				continue // whose key is in no path
			}
			t.Run(name+" with "+string(key), func(t *testing.T) {
				integrator, sent := counted(t)
				err := refused(t.Context(), integrator)
				assert.Equal(t, "Idempotency-Key", as[*errors.InvalidInput](t, err).Fields[0].Field)
				assert.Zero(t, sent.Load())
				if key != "" {
					require.ErrorContains(t, err, "use another key")
				} else if name != "Create" && name != "Prepare" {
					require.ErrorContains(t, err, "DeriveKey")
				}
			})
		}
	}
}

// A payout or an action without an approval is not confirmed.
func TestConfirmWithoutApprovalIsRefused(t *testing.T) {
	integrator, sent := counted(t)
	account := integrator.Self()
	for _, booked := range []*dapi.Payout{nil, {ID: "po_1"}, {ID: "po_1", Approval: &dapi.Approval{}}} {
		_, err := account.Payouts.Confirm(t.Context(), dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"),
			Currency: dapi.USDC}, booked)
		as[*signing.ApprovalRefused](t, err)
	}
	for _, prepared := range []*dapi.EscrowAction{nil, {}, {Approval: &dapi.Approval{}}} {
		_, err := account.Escrows.Confirm(t.Context(), dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
			Payee: payee}, "esc_1", dapi.EscrowActionTypeApprove, prepared)
		as[*signing.ApprovalRefused](t, err)
	}
	assert.Zero(t, sent.Load())
}

func make11() []string { return strings.Split("a,b,c,d,e,f,g,h,i,j,k", ",") }

func TestInvalidClientArgumentsAreRefused(t *testing.T) {
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
	escrow := func(statuses ...dapi.EscrowStatus) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Wait(ctx, "esc_1", statuses)
			return err
		}
	}
	rail := func(method dapi.BankMethod, currency string) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.For("cl_1").Rails.WaitActive(ctx, method, currency)
			return err
		}
	}
	for name, c := range map[string]struct {
		call  call
		field string
	}{
		"an escrow for no status":    {escrow(), "statuses"},
		"an escrow for an empty one": {escrow(dapi.EscrowStatusReleased, ""), "statuses"},
		"a rail without method":      {rail("", "EUR"), "method"},
		"a rail without currency":    {rail("sepa", ""), "currency"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, "missing") })
	}
}

func TestInvalidTermsAreRefused(t *testing.T) {
	pay := func(terms dapi.PayTerms) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			payment, err := i.Self().Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"),
				Currency: dapi.USDC}, "invoice-42", terms)
			assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State,
				"an earlier call, with other options, may have paid")
			return err
		}
	}
	bounded := func(bounds dapi.Bounds) call {
		return pay(dapi.PayTerms{Bounds: bounds})
	}
	atMost := func(fee decimal.Decimal) call {
		return bounded(dapi.Bounds{MaxFee: &fee})
	}
	atLeast := func(least decimal.Decimal) call {
		return bounded(dapi.Bounds{MinDestinationAmount: &least, DestinationCurrency: "EUR"})
	}
	noWorse := func(leaves, of, arrives, in string) call {
		return bounded(dapi.Bounds{NoWorseThan: &dapi.Quote{SourceAmount: amount(leaves), SourceCurrency: of,
			DestinationAmount: amount(arrives), DestinationCurrency: in}})
	}
	tolerant := func(part decimal.Decimal) call {
		return bounded(dapi.Bounds{QuoteTolerance: part})
	}
	known := func(history dapi.History) call {
		return pay(dapi.PayTerms{History: history})
	}
	open := func(history dapi.History) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Open(ctx, dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
				Payee: "0x1"}, "escrow-42", dapi.EscrowTerms{History: history})
			return err
		}
	}
	act := func(history dapi.History) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Act(ctx, dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
				Payee: "0x1"}, "esc_1", dapi.EscrowActionTypeRelease, "release-42", dapi.EscrowTerms{History: history})
			return err
		}
	}
	tomorrow := dapi.History{FirstUsed: time.Now().Add(24 * time.Hour)}
	for name, c := range map[string]struct {
		call        call
		field, code string
	}{
		"a negative fee":       {atMost(amount("-0.01")), "MaxFee", "out_of_range"},
		"a negative minimum":   {atLeast(amount("-1")), "MinDestinationAmount", "out_of_range"},
		"a minimum of nothing": {atLeast(decimal.Zero), "MinDestinationAmount", "out_of_range"},
		"a minimum in no currency": {bounded(dapi.Bounds{MinDestinationAmount: new(amount("1"))}),
			"MinDestinationAmount", "out_of_range"},
		"a quote of which nothing arrives": {noWorse("1", "USDC", "0", "EUR"), "NoWorseThan", "missing"},
		"a quote of which nothing leaves":  {noWorse("0", "USDC", "1", "EUR"), "NoWorseThan", "missing"},
		"a quote that leaves in nothing":   {noWorse("1", "", "1", "EUR"), "NoWorseThan", "missing"},
		"a quote that arrives in nothing":  {noWorse("1", "USDC", "1", ""), "NoWorseThan", "missing"},
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
		"an escrow's first use in the future": {open(tomorrow), "History.FirstUsed", "out_of_range"},
		"the path of another payout":          {known(dapi.History{PayoutID: ".."}), "History.PayoutID", "pattern"},
		"a payout with an escrow's id":        {known(dapi.History{EscrowID: "e_1"}), "History.EscrowID", "unexpected"},
		"an escrow with a payout's id":        {open(dapi.History{PayoutID: "po_1"}), "History.PayoutID", "unexpected"},
		"an action with a payout's id":        {act(dapi.History{PayoutID: "po_1"}), "History.PayoutID", "unexpected"},
		"an action's history of another one":  {act(dapi.History{EscrowID: "esc_2"}), "History.EscrowID", "unexpected"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

// The terms that an approval is compared with are required for signing as well as for booking.
func TestTermsThatNoApprovalCanMatchAreRefused(t *testing.T) {
	confirm := func(asked dapi.PayoutCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Confirm(ctx, asked, &dapi.Payout{ID: "po_1"})
			return err
		}
	}
	act := func(terms dapi.EscrowCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			escrows := i.Self().Escrows
			_, actErr := escrows.Act(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, "release-42",
				dapi.EscrowTerms{})
			_, confirmErr := escrows.Confirm(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, &dapi.EscrowAction{})
			if (actErr == nil) != (confirmErr == nil) {
				return errors.New("Act and Confirm judge differently")
			}
			_ = as[*errors.InvalidInput](t, confirmErr)
			return actErr
		}
	}
	for name, c := range map[string]struct {
		call        call
		field, code string
	}{
		"a payout of a negative amount": {confirm(dapi.PayoutCreate{Amount: amount("-25"), Currency: dapi.USDC}),
			"amount", "too_small"},
		"a payout of too many digits": {confirm(dapi.PayoutCreate{Amount: decimal.New(1, 999_999_999),
			Currency: dapi.USDC}), "amount", "too_long"},
		"an escrow of too many digits": {act(dapi.EscrowCreate{Amount: decimal.New(1, 999_999_999), Currency: dapi.USDC,
			Payee: "0x1"}), "amount", "too_long"},
		"a payout of no asset": {confirm(dapi.PayoutCreate{Amount: amount("25")}), "currency", "missing"},
		"an escrow of a negative amount": {act(dapi.EscrowCreate{Amount: amount("-25"), Currency: dapi.USDC,
			Payee: "0x1"}), "amount", "too_small"},
		"an escrow of no asset": {act(dapi.EscrowCreate{Amount: amount("25"), Payee: "0x1"}), "currency", "missing"},
		"no payee": {act(dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC}), "payee",
			"missing"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

// A code is refused if it is not a word, or if it names another chain.
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

type call = func(context.Context, *dapi.Integrator) error
