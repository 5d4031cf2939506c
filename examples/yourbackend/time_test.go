package yourbackend

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// A week passes at once: your code, the SDK and the host are in one bubble, in which time passes when all of them wait.
func TestAWeekInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := sandbox.New(sandbox.WithInstantProgress())
		platform, err := dapi.NewIntegrator("https://sandbox.example",
			dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key},
			moneymovement.WithHTTPClient(host.Client())) // without a socket, for which a bubble does not wait
		require.NoError(t, err)

		client, err := platform.Clients.Create(t.Context(),
			dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
		require.NoError(t, err)
		account := platform.For(client.ID)
		_, err = account.Sandbox.Deposit(t.Context(),
			dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
		require.NoError(t, err)
		supplier, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Supplier",
			Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89 3704 0044 0532 0130 00",
				Holder: dapi.AccountHolder{Name: "Supplier"}})})
		require.NoError(t, err)
		asked := dapi.PayoutCreate{ContactID: supplier.ID, Amount: decimal.NewFromInt(12), Currency: dapi.USDC}
		key, began := moneymovement.DeriveKey("invoice", "42", "1"), time.Now()

		booked, err := account.Payouts.Book(t.Context(), asked, moneymovement.IdempotencyKey(key))
		require.NoError(t, err)
		time.Sleep(3 * time.Minute) // a person looks at the price for too long
		_, err = account.Payouts.Confirm(t.Context(), asked, booked)
		refused, ok := errors.AsType[*signing.ApprovalRefused](err)
		require.True(t, ok, "%v", err)
		assert.True(t, refused.Expired)

		time.Sleep(8 * 24 * time.Hour) // the service has forgotten the key
		payment, _ := account.Payouts.Pay(t.Context(), asked, key,
			dapi.PayTerms{History: dapi.History{FirstUsed: began}})
		_, ok = errors.AsType[*dapi.KeyTooOld](payment.Refusal)
		require.True(t, ok, "%v", payment.Refusal)
		assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	})
}
