package appapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// What these writes return is not described: any success is one. The resource is read where it can be, and the answer
// is there all the same.
func TestASuccessThatShowsNothing(t *testing.T) {
	w := newWorld(t)
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
				var answer moneymovement.Response
				shown, err := c.call(moneymovement.CaptureResponse(&answer))
				require.NoError(t, err)
				assert.Equal(t, 1, armed.Consumed())
				assert.Equal(t, c.want, shown)
				assert.Equal(t, status, answer.Status)
				assert.Equal(t, body, string(answer.Body))
			})
		}
	}
}

// A transfer is proven by its hash, a reveal by all that it reveals. What does not show it may have happened.
func TestWhatIsNotProvenMayHaveHappened(t *testing.T) {
	w := newWorld(t)
	to := appapi.ToContact{ContactID: w.bob(), Amount: price("5")}
	for _, body := range []string{`{}`, `{"txHash":""}`, `{"txHash":null}`, `{"txHash":{}}`, `{"ok":true}`} {
		w.app = w.client(w.AppKey()) // which knows of no earlier call
		w.Host.Arm("POST", "/apps/transfer", sandbox.Respond(http.StatusOK, "").WithBody(body).AfterCommit())
		_, err := w.app.Transfers.Send(t.Context(), to, "transfer-1")
		unknown, is := errors.AsType[*errors.InDoubt](err)
		require.True(t, is, "%s: %v", body, err)
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
	}
	receipt, err := w.app.Transfers.Send(t.Context(), to, "transfer-1")
	require.NoError(t, err)
	assert.NotEmpty(t, receipt.TxHash)
	assert.Equal(t, "195", w.balance(), "it happened once")
}
