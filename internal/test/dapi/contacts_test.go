package dapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// bankMethods are the values that the description allows for the accountType of a bank variant.
var bankMethods = strings.Fields(`sepa swift ach uaefts fedwire rtp fednow pix spei pse breb transfers_3_0 ukfps npp nip bdt_local bdt_ewallet
	bob_local brl_local cad_eft clp_local cny_alipay cny_wechatpay cop_local crc_local dkk_local dop_local dop_ewallet egp_local gtq_local
	gtq_ewallet hkd_fps hnl_local idr_local idr_ewallet ils_local inr_local inr_upi jmd_local jpy_local krw_local myr_local nok_local php_local
	php_ewallet pkr_raast pkr_ewallet pln_local sar_local sle_local thb_local try_fast tzs_local ugx_local vnd_local xof_local zmw_local`)

// Rule: contact.bank-methods
func TestEveryBankMethodIsTakenByTheHost(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	for _, method := range bankMethods {
		contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{
			Name: method,
			Account: dapi.Bank(dapi.BankMethod(method),
				dapi.BankAccount{AccountHolderName: "Bob Roe", AccountNumber: "0123"}),
		})
		if assert.NoError(t, err) && assert.NotNil(t, contact.Bank) {
			assert.Equal(t, dapi.BankMethod(method), contact.Bank.Method)
		}
	}
}

// bodies keeps what was sent to a path.
func (w *world) bodies(path string) *[]string {
	var kept []string
	next := w.Wire.Handler
	w.Wire.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(w, err)
			kept = append(kept, string(body))
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		next.ServeHTTP(answer, r)
	})
	return &kept
}

// Rule: contact.name, contact.email
func TestUnsetFieldsAreNotSent(t *testing.T) {
	w := newWorld(t)
	sent := w.bodies("/dapi/v1/contacts")
	_, err := w.integrator().Self().Contacts.Create(t.Context(), dapi.ContactCreate{Email: w.Host.Credentials().Email})
	require.NoError(t, err)
	assert.Equal(t, []string{`{"email":"ops@example.com"}`}, *sent, "the zero account is no account")
}

func TestUpdateSendsWhatIsSetAndNothingElse(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	id := w.Contact(account.Contacts, sepa())
	sent := w.bodies("/dapi/v1/contacts/")
	for _, c := range []struct {
		change dapi.ContactUpdate
		body   string
	}{
		{dapi.ContactUpdate{}, `{}`},
		{dapi.ContactUpdate{Name: model.Set("")}, `{"name":""}`},
		{dapi.ContactUpdate{Email: model.Null[string]()}, `{"email":null}`},
		{dapi.ContactUpdate{IsExternal: model.Set(false)}, `{"isExternal":false}`},
		{dapi.ContactUpdate{Address: model.Set(dapi.PostalAddress{City: "Paris"})}, `{"address":{"city":"Paris"}}`},
	} {
		_, err := account.Contacts.Update(t.Context(), id, c.change)
		require.NoError(t, err)
		assert.JSONEq(t, c.body, (*sent)[len(*sent)-1])
	}
}

// Rule: contact.deduplicated, contact.answer, idempotency.contacts, idempotency.replay
func TestContactsLive(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	var answer moneymovement.Response
	first, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: sepa()},
		moneymovement.CaptureResponse(&answer))
	require.NoError(t, err)
	assert.False(t, answer.Replayed)
	again, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Robert", Account: sepa()},
		moneymovement.CaptureResponse(&answer))
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID, "deduplicated by its account details")
	assert.True(t, answer.Replayed)

	capabilities, err := account.Contacts.Capabilities(t.Context(), first.ID)
	require.NoError(t, err)
	require.NotNil(t, capabilities.Payable)
	assert.True(t, *capabilities.Payable)
	assert.Empty(t, capabilities.Blockers)

	require.NoError(t, account.Contacts.Delete(t.Context(), first.ID))
	_, err = account.Contacts.Capabilities(t.Context(), first.ID)
	as[*errors.NotFound](t, err)
}

// Rule: idempotency.client, sandbox.minimum, sandbox.maximum
func TestClientsLive(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	var answer moneymovement.Response
	first, err := integrator.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Acme"})
	require.NoError(t, err)
	again, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"},
		moneymovement.CaptureResponse(&answer))
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID, "the email is the natural key")
	assert.True(t, answer.Replayed)

	_, err = integrator.For("cl_nobody").Contacts.Capabilities(t.Context(), "ct_1")
	as[*errors.NotFound](t, err)

	treasury, err := integrator.Self().Sandbox.Treasury(t.Context())
	require.NoError(t, err)
	_, err = integrator.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: treasury.MaxCredit.Add(amount("0.01")), Currency: dapi.USDC})
	assert.True(t, as[*errors.AmountAboveMaximum](t, err).MaxCredit.Equal(treasury.MaxCredit))
	_, err = integrator.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: amount("0.09"), Currency: dapi.USDC})
	as[*errors.AmountBelowMinimum](t, err)
}

// The host takes what an applicant says by the assumed names: only the document is outstanding then.
func TestTheHostKnowsTheNamesOfAnApplicant(t *testing.T) {
	w := newWorld(t)
	platform := w.integrator()
	for email, applicant := range map[string]dapi.Applicant{
		"business@example.com": {LegalName: "Example", Country: "DE"},
		"person@example.com":   {FirstName: "Bob", LastName: "Roe", Country: "DE"},
		"further@example.com":  {Country: "DE", Further: map[string]any{"entityName": "Example"}},
	} {
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: email})
		require.NoError(t, err)
		saved, err := platform.For(client.ID).Verification.Save(t.Context(),
			dapi.KYBInformation{Applicant: applicant.Map()})
		require.NoError(t, err)
		require.Len(t, saved.Requirements, 1, email)
		assert.Equal(t, "documentIds", saved.Requirements[0].Field)
	}
}

// What the host was sent and what it answers, field by field.
// Rule: resource.payout, resource.payin, resource.decimals, resource.dates, resource.id-prefixes
// Rule: contact.linked-account
func TestResourcesCarryTheirFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		client := w.readyClient()

		quoted, err := client.Payins.Create(t.Context(), dapi.PayinCreate{
			Amount: amount("10.000001"), Currency: "USDC", OriginChainID: 1, MaxAmount: amount("12"),
		})
		require.NoError(t, err)
		assert.EqualValues(t, 1, quoted.OriginChainID)
		assert.Equal(t, "10.000001", quoted.Amount.String())
		assert.Equal(t, "12", quoted.MaxAmount.String())
		assert.Equal(t, "9.700001", quoted.Quote.DestinationAmount.String())

		linked, err := client.Contacts.Create(t.Context(), dapi.ContactCreate{Email: w.Developer().Email})
		require.NoError(t, err)
		assert.Regexp(t, "^ct_", linked.ID)
		assert.Regexp(t, "^[0-9a-f-]{36}$", linked.UserID)
		assert.Equal(t, linked.UserID, linked.User.ID)

		terms := dapi.PayoutCreate{
			ContactID: linked.ID, Amount: amount("1.000001"), Currency: dapi.USDC, PaymentReference: "Invoice 42",
			Purpose:     "goods",
			DocumentIDs: []string{"doc_1"}, FromChainID: 8453, ToChainID: 8453,
		}
		booked, err := client.Payouts.Book(t.Context(), terms)
		require.NoError(t, err)
		assert.Regexp(t, "^po_", booked.ID)
		carried := dapi.PayoutCreate{
			ContactID: booked.ContactID, Amount: booked.Amount, Currency: booked.Currency,
			PaymentReference: booked.PaymentReference,
			Purpose:          booked.Purpose, DocumentIDs: booked.DocumentIDs,
			FromChainID: booked.FromChainID, ToChainID: booked.ToChainID,
		}
		assert.Equal(t, terms, carried)
		assert.Equal(t, time.UTC, booked.CreatedAt.Location())
	})
}
