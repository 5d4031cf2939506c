package dapi_test

import (
	"bytes"
	"io"
	"net/http"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A write of which the description does not say what it returns is done when the service takes it. The resource is read
// where it can be.
func TestASuccessThatShowsNothing(t *testing.T) {
	w := newPayWorld(t)
	client := w.readyClient()
	payin, err := client.Payins.Create(t.Context(),
		dapi.PayinCreate{Amount: amount("5"), Currency: "USDC", OriginChainID: 1})
	require.NoError(t, err)
	_, err = client.Payins.Instructions(t.Context(), payin.ID)
	require.NoError(t, err)
	paid, err := w.pay()
	require.NoError(t, err)
	contact := w.Contact(w.account.Contacts, sepa())
	for name, c := range map[string]struct {
		method, path string
		call         func(...moneymovement.CallOption) (any, error)
		read         bool // shows what was read
	}{
		"SaveKYB": {"PUT", "/client/kyb", func(o ...moneymovement.CallOption) (any, error) {
			kyb, err := client.Verification.Save(t.Context(),
				dapi.KYBInformation{Applicant: map[string]any{"country": "DE"}},
				o...)
			return kyb.Status, err
		}, true},
		"OpenRail": {"POST", "/banks", func(o ...moneymovement.CallOption) (any, error) {
			rail, err := client.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"},
				o...)
			return rail.Method, err
		}, true},
		"UpdateContact": {"PATCH", "/contacts/*", func(o ...moneymovement.CallOption) (any, error) {
			updated, err := w.account.Contacts.Update(t.Context(), contact, dapi.ContactUpdate{}, o...)
			return updated.ID, err
		}, false},
		"CompletePayin": {"POST", "/sandbox/payins/*/complete", func(o ...moneymovement.CallOption) (any, error) {
			done, err := client.Sandbox.CompletePayin(t.Context(), payin.ID, forWrite(o)...)
			return done.ID, err
		}, true},
		"MovePayout": {"POST", "/sandbox/payouts/*/status", func(o ...moneymovement.CallOption) (any, error) {
			moved, err := w.account.Sandbox.SetPayoutStatus(t.Context(), paid.Payout.ID, dapi.PayoutStatusCompleted,
				forWrite(o)...)
			return moved.ID, err
		}, true},
	} {
		for _, body := range []string{"", `{"ok":true}`} {
			t.Run(name+" "+body, func(t *testing.T) {
				status := http.StatusOK
				if body == "" {
					status = http.StatusNoContent
				}
				w.Host.Arm(c.method, c.path, sandbox.Respond(status, "").WithBody(body).AfterCommit())
				var answer moneymovement.Response
				shown, err := c.call(moneymovement.CaptureResponse(&answer))
				require.NoError(t, err)
				assert.Equal(t, c.read, shown != nil && shown != dapi.ContactID(""), "%v", shown)
				assert.Equal(t, status, answer.Status, "the answer is the write's")
				assert.Equal(t, body, string(answer.Body))
			})
		}
	}
}

// Text that JSON does not allow costs neither a page nor a payment: all else is read. What proves nothing without it
// stays no proof.
func TestTextThatJSONDoesNotAllow(t *testing.T) {
	w := newPayWorld(t)
	damage := func(method, pattern, member string) {
		w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
			is, err := path.Match(method+" "+pattern, r.Method+" "+r.URL.Path)
			assert.NoError(t, err)
			if !is || answer.StatusCode >= 300 {
				return
			}
			body, err := io.ReadAll(answer.Body)
			assert.NoError(w, err)
			inprocess.SetBody(answer, bytes.Replace(body, []byte(`"`+member+`":"`), []byte(`"`+member+`":"\ud83d`), 1))
		})
	}
	damage("POST", "/dapi/v1/payouts", "createdAt")
	paid, err := w.pay(journaled())
	require.NoError(t, err)
	assert.Equal(t, 1, w.Fundings())

	damage("GET", "/dapi/v1/transactions", "status")
	var answer moneymovement.Response
	page, err := w.account.Transactions.List(t.Context(), dapi.ListTransactionsParams{},
		moneymovement.CaptureResponse(&answer))
	require.NoError(t, err)
	assert.Greater(t, len(page.Items), 1)
	require.Len(t, answer.Unread, 1)
	assert.Equal(t, "/items/0/status", answer.Unread[0].Pointer)
	assert.NotEmpty(t, page.Items[0].ID)

	damage("GET", "/dapi/v1/payouts/*", "id")
	_, err = w.account.Payouts.Get(t.Context(), paid.Payout.ID)
	require.ErrorContains(t, err, "cannot be read")
	require.ErrorContains(t, as[*errors.UnexpectedResponse](t, err).Err, "/id is text that JSON does not allow")
}

// A login needs two things from the service: the bytes to sign, and the access token. All other members are assumed,
// and may be missing.
func TestALoginWithLittleInItsAnswers(t *testing.T) {
	w := newWorld(t)
	w.onSuccess("POST", "/auth/challenge", func(challenge map[string]any) { delete(challenge, "expiresAt") })
	w.onSuccess("POST", "/auth/token", func(grant map[string]any) {
		for member := range grant {
			if member != "accessToken" {
				delete(grant, member)
			}
		}
	})
	_, err := w.integrator().Self().Transactions.List(t.Context(), dapi.ListTransactionsParams{})
	require.NoError(t, err)
}

// forWrite are options of any call as those of a write that a key anchors.
func forWrite(options []moneymovement.CallOption) []moneymovement.WriteOption {
	var write []moneymovement.WriteOption
	for _, option := range options {
		write = append(write, option)
	}
	return write
}
