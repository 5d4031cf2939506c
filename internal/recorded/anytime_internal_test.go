package recorded

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// inProcess sends requests to a handler without a connection, which a test's own clock would not wait for.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	p.ServeHTTP(answer, request)
	return answer.Result(), nil
}

// A session, a quote and an approval of a recording are fresh whenever it is played: an example's payment succeeds
// years from now.
func TestARecordingCanBePlayedAtAnyTime(t *testing.T) {
	for _, date := range []time.Time{time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), time.Now().AddDate(1, 0, 0),
		time.Now().AddDate(30, 0, 0)} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(date))
			recording, err := load("dapi/ExamplePayouts_Confirm")
			require.NoError(t, err)
			service := newReplay("dapi/ExamplePayouts_Confirm", recording, time.Now())
			key, err := signing.GenerateEd25519()
			require.NoError(t, err)
			account, err := dapi.NewSelfServe("https://service.example", dapi.Developer{Email: email, Key: key},
				moneymovement.WithHTTPClient(&http.Client{Transport: inProcess{service}}))
			require.NoError(t, err)

			_, err = account.Sandbox.Deposit(t.Context(),
				dapi.DepositCreate{Amount: decimal.NewFromInt(100), Currency: dapi.USDC})
			require.NoError(t, err)
			bob, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{
				Name: "Bob",
				Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
					Holder: dapi.AccountHolder{Name: "Bob Roe"}}),
			})
			require.NoError(t, err)
			asked := dapi.PayoutCreate{ContactID: bob.ID, Amount: decimal.NewFromInt(25), Currency: dapi.USDC}
			booked, err := account.Payouts.Book(t.Context(), asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			confirmed, err := account.Payouts.Confirm(t.Context(), asked, booked)
			require.NoError(t, err)
			assert.Equal(t, dapi.PayoutStatusFunding, confirmed.Status)
			assert.WithinDuration(t, date, confirmed.CreatedAt, time.Second)
			assert.NoError(t, service.complete())
		})
	}
}
