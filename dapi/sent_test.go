package dapi_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
)

// Input that the description allows, or does not mention, is sent.
// Rule: size.contact-currency, size.contact-name, size.contact-id, contact.name, contact.email
// Rule: size.payment-reference, size.purpose, size.document-ids, idempotency.pattern
func TestInputThatTheDescriptionAllowsIsSent(t *testing.T) {
	capabilities := func(id dapi.ContactID) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Capabilities(ctx, id)
			return err
		}
	}
	contact := func(asked dapi.ContactCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Create(ctx, asked)
			return err
		}
	}
	update := func(change dapi.ContactUpdate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Contacts.Update(ctx, "ct_1", change)
			return err
		}
	}
	book := func(value string) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Book(ctx, dapi.PayoutCreate{ContactID: "7c9e6679-7425", Amount: amount(value),
				Currency: dapi.USDC})
			return err
		}
	}
	bank := func(further map[string]any) call {
		return contact(dapi.ContactCreate{Bank: &dapi.BankDestination{
			Method: "swift", Currency: "EUROS", Fields: map[string]any{"iban": "x"}, Holder: map[string]any{},
			AdditionalProperties: further,
		}})
	}
	long := strings.Repeat("a", 216)
	none, empty := model.Null[string](), model.Set("")
	sendsAll(t, map[string]exchanged{
		"a contact's id of 216": {capabilities(dapi.ContactID(long)),
			"GET /contacts/" + long + "/capabilities"},
		"behind its prefix": {capabilities(dapi.ContactID("ct_" + long)),
			"GET /contacts/ct_" + long + "/capabilities"},
		"its every character":      {capabilities("A.z_0:-"), "GET /contacts/A.z_0:-/capabilities"},
		"dots that are not a step": {capabilities("..."), "GET /contacts/.../capabilities"},
		"a currency in lower case": {contact(dapi.ContactCreate{Currency: "usd"}),
			`POST /contacts {"currency":"usd"}`},
		"a currency of four": {contact(dapi.ContactCreate{Currency: "EURC"}),
			`POST /contacts {"currency":"EURC"}`},
		"a name of 200": {contact(dapi.ContactCreate{Name: strings.Repeat("é", 200)}),
			`POST /contacts {"name":"` + strings.Repeat("é", 200) + `"}`},
		"nothing but defaults": {contact(dapi.ContactCreate{}), `POST /contacts {}`},
		"a chain's code of any style": {contact(onchain("eip155:8453")),
			`POST /contacts {"account":{"accountType":"onchain","chainId":"eip155:8453",` +
				`"currency":"usdc.e","walletAddress":"bc1q"}}`},
		"a chain's code in upper case": {contact(onchain("BASE")),
			`POST /contacts {"account":{"accountType":"onchain","chainId":"BASE","currency":"usdc.e",` +
				`"walletAddress":"bc1q"}}`},
		"a bank method of a later version": {contact(dapi.ContactCreate{Account: dapi.BankAccount("mars_local",
			dapi.BankFields{})}), `POST /contacts {"account":{"accountType":"mars_local"}}`},
		"an email, and no account": {contact(dapi.ContactCreate{Email: "ops@example.com"}),
			`POST /contacts {"email":"ops@example.com"}`},
		"a payment at its bounds": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Book(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25.123456"),
				Currency: dapi.USDC, PaymentReference: strings.Repeat("€", 140), Purpose: strings.Repeat("ß", 64),
				DocumentIDs: make11()[:10]}, moneymovement.IdempotencyKey(moneymovement.Key(strings.Repeat("k", 128))))
			return err
		}, `POST /payouts {"contactId":"ct_1","amount":"25.123456","currency":"USDC","documentIds":["a","b","c","d",` +
			`"e","f","g","h","i","j"],"paymentReference":"` + strings.Repeat("€", 140) + `","purpose":"` +
			strings.Repeat("ß", 64) + `"}`},
		"a key that is a step in a path, where it is in none": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Book(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"),
				Currency: dapi.USDC}, moneymovement.IdempotencyKey(".."))
			return err
		}, `POST /payouts {"contactId":"ct_1","amount":"25","currency":"USDC"}`},
		"a change of what is not text": {update(dapi.ContactUpdate{IsExternal: model.Set(false),
			Address: model.Set(dapi.PostalAddress{City: "Paris"})}),
			`PATCH /contacts/ct_1 {"address":{"city":"Paris"},"isExternal":false}`},
		"a change of nothing": {update(dapi.ContactUpdate{}), `PATCH /contacts/ct_1 {}`},
		"a currency that is cleared": {update(dapi.ContactUpdate{Currency: none, Name: empty}),
			`PATCH /contacts/ct_1 {"currency":null,"name":""}`},
		"zeros behind the last decimal": {book("1.500000000"),
			`POST /payouts {"amount":"1.5","contactId":"7c9e6679-7425","currency":"USDC"}`},
		"a payin's id of any style": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payins.Get(ctx, "7c9e6679-7425")
			return err
		}, "GET /payins/7c9e6679-7425"},
		"an escrow's id of any style": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Sync(ctx, "escrow:7425")
			return err
		}, "POST /escrow/escrow:7425/sync"},
		"a bank destination": {bank(nil),
			`POST /contacts {"bank":{"method":"swift","currency":"EUROS","fields":{"iban":"x"},"holder":{}}}`},
		"with fields that are cut off": {bank(map[string]any{"bankCode": "7", "tags": []string{"a"}}),
			`POST /contacts {"bank":{"method":"swift","currency":"EUROS","fields":{"iban":"x"},` +
				`"holder":{},"bankCode":"7","tags":["a"]}}`},
		"a name that is cleared": {update(dapi.ContactUpdate{Name: none}),
			`PATCH /contacts/ct_1 {"name":null}`},
		"an email that is made empty": {update(dapi.ContactUpdate{Email: empty}),
			`PATCH /contacts/ct_1 {"email":""}`},
		"a currency of the account": {
			contact(dapi.ContactCreate{Account: dapi.SEPA(dapi.BankFields{Currency: "EUROS"})}),
			`POST /contacts {"account":{"accountType":"sepa","currency":"EUROS"}}`},
		"a kind of identifier without end": {
			contact(dapi.ContactCreate{
				Account: dapi.SEPA(dapi.BankFields{HolderIDType: dapi.HolderIDType(long)})}),
			`POST /contacts {"account":{"accountType":"sepa","currency":"EUR","holderIdType":"` + long + `"}}`},
		"a chain by its name": {contact(onchain("Arbitrum One")),
			`POST /contacts {"account":{"accountType":"onchain","chainId":"Arbitrum One",` +
				`"currency":"usdc.e","walletAddress":"bc1q"}}`},
	})
}

// Assumed rules are not checked. The input is sent, and the host, which assumes the same, decides.
func TestInputThatOnlyAnAssumptionForbidsIsSent(t *testing.T) {
	payout := func(change func(*dapi.PayoutCreate)) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"), Currency: dapi.USDC}
			change(&asked)
			_, err := i.Self().Payouts.Book(ctx, asked)
			return err
		}
	}
	escrow := func(change func(*dapi.EscrowCreate)) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			asked := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC, Payee: "0x1"}
			change(&asked)
			_, err := i.Self().Escrows.Create(ctx, asked)
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
	price := func(asked dapi.PayinCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payins.Create(ctx, asked)
			return err
		}
	}
	kyb := func(asked dapi.KYBInformation) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Verification.Save(ctx, asked)
			return err
		}
	}
	client := func(asked dapi.ClientCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Clients.Create(ctx, asked)
			return err
		}
	}
	deposit := func(asked dapi.DepositCreate) call {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Sandbox.Deposit(ctx, asked)
			return err
		}
	}
	long := strings.Repeat("p", 217)
	documents := strings.Split(strings.Repeat("d,", 50)+"d", ",")
	sendsAll(t, map[string]exchanged{
		"five letters": {payout(func(p *dapi.PayoutCreate) { p.Currency = "USDCC" }),
			`POST /payouts {"amount":"25","contactId":"ct_1","currency":"USDCC"}`},
		"a currency of no asset in lower case": {payout(func(p *dapi.PayoutCreate) { p.Currency = "usdt" }),
			`POST /payouts {"amount":"25","contactId":"ct_1","currency":"usdt"}`},
		"seven decimals of USDC": {payout(func(p *dapi.PayoutCreate) { p.Amount = amount("1.0000001") }),
			`POST /payouts {"amount":"1.0000001","contactId":"ct_1","currency":"USDC"}`},
		"an empty document": {payout(func(p *dapi.PayoutCreate) { p.DocumentIDs = []string{"d1", ""} }),
			`POST /payouts {"amount":"25","contactId":"ct_1","currency":"USDC","documentIds":["d1",""]}`},
		"a document's id without end": {payout(func(p *dapi.PayoutCreate) { p.DocumentIDs = []string{long} }),
			`POST /payouts {"amount":"25","contactId":"ct_1","currency":"USDC","documentIds":["` + long + `"]}`},
		"a negative chain": {payout(func(p *dapi.PayoutCreate) { p.ToChainID = -1 }),
			`POST /payouts {"amount":"25","contactId":"ct_1","currency":"USDC","toChainId":-1}`},
		"a payee by name": {escrow(func(e *dapi.EscrowCreate) { e.Payee = "bob.base.eth" }),
			`POST /escrow {"amount":"25","currency":"USDC","payee":"bob.base.eth"}`},
		"a long memo": {escrow(func(e *dapi.EscrowCreate) { e.Memo = long }),
			`POST /escrow {"amount":"25","currency":"USDC","memo":"` + long + `","payee":"0x1"}`},
		"an action without a type": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Prepare(ctx, "esc_1", "")
			return err
		}, `POST /escrow/esc_1/actions {}`},
		"a payout's id for a payin's":    {payin("po_1"), "GET /payins/po_1"},
		"a payin of 217":                 {payin(dapi.PayinID(long)), "GET /payins/" + long},
		"a payin with signs":             {payin("a=b c+é;~@"), "GET /payins/a=b%20c+%C3%A9%3B~@"},
		"a contact's id for an escrow's": {sync("ct_1"), "POST /escrow/ct_1/sync"},
		"a payin of nothing":             {price(dapi.PayinCreate{}), "POST /payins {}"},
		"a payin of less than nothing": {price(dapi.PayinCreate{Amount: amount("-1"), Currency: "euro",
			MaxAmount: amount("-2"), OriginChainID: -1}),
			`POST /payins {"amount":"-1","currency":"euro","maxAmount":"-2","originChainId":-1}`},
		"51 documents": {kyb(dapi.KYBInformation{DocumentIDs: documents}),
			`PUT /client/kyb {"documentIds":["` + strings.Join(documents, `","`) + `"]}`},
		"no documents any more": {kyb(dapi.KYBInformation{DocumentIDs: []string{}}),
			`PUT /client/kyb {"documentIds":[]}`},
		"a credit of nothing": {deposit(dapi.DepositCreate{}), "POST /sandbox/deposits {}"},
		"a credit of less": {deposit(dapi.DepositCreate{Amount: amount("-1"), Currency: "gold"}),
			`POST /sandbox/deposits {"amount":"-1","currency":"gold"}`},
		"a rail of no name": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Rails.Open(ctx, dapi.RailCreate{})
			return err
		}, "POST /banks {}"},
		"a move to nowhere": {func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Sandbox.SetPayoutStatus(ctx, "po_1", "")
			return err
		}, "POST /sandbox/payouts/po_1/status {}"},
		"a client with a country in words": {client(dapi.ClientCreate{Email: "a", Country: "Norway"}),
			`POST /clients {"country":"Norway","email":"a"}`},
		"a client with long names": {client(dapi.ClientCreate{Email: long, EntityName: long, FirstName: long,
			LastName: long}),
			`POST /clients {"email":"` + long + `","entityName":"` + long + `","firstName":"` + long +
				`","lastName":"` + long + `"}`},
	})
}

// The description states only that a client's id begins with cl_.
func TestAnyFormOfClientIDIsSent(t *testing.T) {
	account := ""
	integrator := sessionBy(t, testkit.Connection(func(r *http.Request) (*http.Response, error) {
		account = r.Header.Get("X-Service-Account")
		return testkit.Page(http.StatusOK, "application/json", `{"items":[]}`)(r)
	}))
	for _, id := range []dapi.ClientID{"cl_a=b c/é", "cl_", dapi.ClientID("cl_" + strings.Repeat("a", 217))} {
		require.NoError(t, read(t.Context(), integrator.For(id)))
		assert.Equal(t, string(id), account)
	}
}

// exchanged is what a call sends.
type exchanged struct {
	call call
	sent string
}

// sendsAll runs calls against a service that refuses everything, so that it was the service that judged.
func sendsAll(t *testing.T, calls map[string]exchanged) {
	t.Helper()
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			line, body := "", ""
			refuses := testkit.Connection(func(r *http.Request) (*http.Response, error) {
				line = r.Method + " " + strings.TrimPrefix(r.URL.EscapedPath(), "/dapi/v1")
				if r.Body != nil {
					sent, _ := io.ReadAll(r.Body)
					body = string(sent)
				}
				return testkit.Page(http.StatusUnprocessableEntity, "application/json",
					`{"error":{"code":"validation_failed","message":"No."}}`)(r)
			})
			as[*errors.ValidationFailed](t, c.call(t.Context(), sessionBy(t, refuses)))
			wantLine, wantBody, hasBody := strings.Cut(c.sent, " {")
			assert.Equal(t, wantLine, line)
			if hasBody {
				assert.JSONEq(t, "{"+wantBody, body)
			} else {
				assert.Empty(t, body)
			}
		})
	}
}

func onchain(chain dapi.ChainCode) dapi.ContactCreate {
	return dapi.ContactCreate{Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: "bc1q", ChainID: chain,
		Currency: "usdc.e"})}
}

// Rule: rail.money-in, coverage.money-out
func TestCoverageCatalogue(t *testing.T) {
	in, out := dapi.RailCoverage(), dapi.PayoutCoverage()
	assert.Len(t, in, 13)
	assert.Contains(t, in, dapi.Coverage{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	assert.Contains(t, out, dapi.Coverage{Method: dapi.BankMethodSWIFT, Currency: "USD", International: true})
	methods := map[dapi.BankMethod]bool{}
	for _, row := range out {
		methods[row.Method] = true
	}
	assert.Len(t, methods, 57, "each bank method pays out some currency")

	in[0].Method = "changed"
	assert.NotEqual(t, in[0], dapi.RailCoverage()[0], "the slice is the caller's")
}

// Rule: coverage.direct
func TestOnlySettlementAssetsOnBaseArePaidDirectly(t *testing.T) {
	for account, want := range map[dapi.OnchainAccount]bool{
		{ChainID: "base", Currency: "USDC"}:     true,
		{ChainID: "base", Currency: "EURC"}:     true,
		{ChainID: "base", Currency: "DAI"}:      false,
		{ChainID: "ethereum", Currency: "USDC"}: false,
	} {
		assert.Equal(t, want, account.PaidDirectly(), "%s on %s", account.Currency, account.ChainID)
	}
}

// Rule: size.escrow-duration
func TestEscrowDurations(t *testing.T) {
	for want, d := range map[dapi.EscrowDuration]time.Duration{
		"14d":   14 * 24 * time.Hour,
		"1h":    time.Hour,
		"90m":   90 * time.Minute,
		"45s":   45 * time.Second,
		"9999d": 9999 * 24 * time.Hour,
	} {
		assert.Equal(t, want, dapi.EscrowDurationOf(d))
		assert.Equal(t, d, want.Duration())
	}
	for _, malformed := range []dapi.EscrowDuration{"", "d", "1", "-1d", "+1d", "1.5h", "10000s", "1dd", "1 d", "1D",
		"1w"} {
		assert.Zero(t, malformed.Duration(), "%q", malformed)
	}
}

func TestEscrowDurationsRoundTrip(t *testing.T) {
	stated := regexp.MustCompile(`^\d{1,4}[smhd]$`)
	rapid.Check(t, func(t *rapid.T) {
		d := dapi.EscrowDuration(rapid.StringMatching(`\d{1,4}[smhd]`).Draw(t, "duration"))
		again := dapi.EscrowDurationOf(d.Duration())
		if d.Duration() > 0 && (!stated.MatchString(string(again)) || again.Duration() != d.Duration()) {
			t.Fatalf("%s is %s, which is written %s", d, d.Duration(), again)
		}
	})
}

// servicesOf maps the services of a client to their types.
func servicesOf[T any]() map[string]reflect.Type {
	services := map[string]reflect.Type{}
	for field := range reflect.TypeFor[T]().Fields() {
		if field.IsExported() {
			services[field.Name] = field.Type
		}
	}
	return services
}

// A new service of Account must be added to SelfServe as well.
func TestSelfServeHasTheServicesOfAnyAccount(t *testing.T) {
	want := servicesOf[dapi.Account]()
	delete(want, "Verification")
	delete(want, "Rails")
	assert.Equal(t, want, servicesOf[dapi.SelfServe]())
	_, acts := reflect.TypeFor[*dapi.SelfServe]().MethodByName("For")
	assert.False(t, acts)
}

func TestSignedAmountOfATransaction(t *testing.T) {
	for direction, want := range map[dapi.TransactionDirection]string{"in": "12.5", "out": "-12.5"} {
		signed, ok := dapi.Transaction{Amount: amount("12.5"), Direction: direction}.Signed()
		assert.True(t, ok)
		assert.Equal(t, want, signed.String())
	}
	signed, ok := dapi.Transaction{Amount: amount("12.5"), Direction: "sideways"}.Signed()
	require.False(t, ok, "it is not known whether the money arrived")
	assert.True(t, signed.IsZero())
}
