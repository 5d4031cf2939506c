package dapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/watchedkey"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// second registers another key of the account, and returns it with a way to delete the first one.
func (w *world) second() (key *watchedkey.Key, deleteFirst func()) {
	w.Helper()
	fresh, err := signing.Generate()
	require.NoError(w, err)
	_, err = w.Host.RegisterKey(sandbox.KeyRegistration{Email: w.Host.Credentials().Email,
		PublicKey: fresh.PublicKey()})
	require.NoError(w, err)
	return &watchedkey.Key{Signer: fresh}, func() { require.NoError(w, w.Host.DeleteKey(w.Host.Credentials().KeyID)) }
}

// funded is an integrator with 100 USDC.
func funded(t *testing.T) (*world, *dapi.Integrator) {
	t.Helper()
	w := newWorld(t)
	integrator := w.integrator()
	w.Credit(integrator.Self().Sandbox, "100", dapi.USDC)
	return w, integrator
}

// tokens notes which token each request carried, by the operation's path.
func (w *world) tokens() (seen func(path string) []string) {
	var mu sync.Mutex
	carried := map[string][]string{}
	w.Wire.OnAnswer(func(r *http.Request, _ *http.Response) {
		mu.Lock()
		defer mu.Unlock()
		carried[r.URL.Path] = append(carried[r.URL.Path], r.Header.Get("Authorization"))
	})
	return func(path string) []string {
		mu.Lock()
		defer mu.Unlock()
		return carried["/dapi/v1"+path]
	}
}

func TestAPaymentUnderWayFinishesUnderItsKey(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	contact := w.Contact(account.Contacts, wallet())
	next, deleteFirst := w.second()
	seen := w.tokens()
	change := beforeSigning(func(context.Context, *dapi.Payout) error { return integrator.UseKey(next) })

	first, err := account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: contact, Amount: amount("5"), Currency: dapi.USDC}, "first", payTerms(change))
	require.NoError(t, err)
	assert.Equal(t, 1, w.Key.Approvals(), "the key that booked signs the approval")
	require.Len(t, seen("/payouts"), 1)
	assert.Equal(t, seen("/payouts"), seen("/payouts/"+string(first.Payout.ID)+"/confirm"),
		"one session books and confirms")
	assert.Zero(t, next.Logins(), "nothing was sent under the new key")

	deleteFirst()
	second, err := account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: contact, Amount: amount("6"), Currency: dapi.USDC}, "second", dapi.PayTerms{})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Logins())
	assert.Equal(t, 1, next.Approvals(), "the new key signed the approval")
	assert.NotEqual(t, seen("/payouts")[0], seen("/payouts")[1])
	assert.Equal(t, seen("/payouts")[1:], seen("/payouts/"+string(second.Payout.ID)+"/confirm"))
	assert.Equal(t, 2, w.Fundings())
}

// The same key by another signer comes in while calls are under way, which go on in the session that they have.
func TestTheSameKeyComesInDuringAPayment(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	again := beforeSigning(func(context.Context, *dapi.Payout) error {
		return integrator.UseKey(&watchedkey.Key{Signer: w.Key.Signer})
	})
	_, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
		ContactID: w.Contact(account.Contacts, wallet()), Amount: amount("5"), Currency: dapi.USDC,
	}, "first", payTerms(again))
	require.NoError(t, err)
	assert.Equal(t, 1, w.Key.Logins())
}

// A payment that waits for longer than its price lives is booked again, and by then its key may be gone.
func TestAPaymentThatIsBookedAgainTakesTheNewKey(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	contact := w.Contact(account.Contacts, wallet())
	next, _ := w.second()
	w.Key.BeforeApproval(func(int) {
		require.NoError(t, integrator.UseKey(next))
		w.Host.Advance(121 * time.Second)
	})
	_, err := account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: contact, Amount: amount("5"), Currency: dapi.USDC}, "slow", dapi.PayTerms{})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Approvals(), "the new key signed what was booked again")
	assert.Equal(t, 1, w.Fundings())
}

func TestAnEscrowActionFinishesUnderItsKey(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	next, deleteFirst := w.second()
	seen := w.tokens()
	w.Key.BeforeApproval(func(int) { require.NoError(t, integrator.UseKey(next)) })
	terms := dapi.EscrowCreate{Amount: amount("5"), Currency: dapi.USDC,
		Payee: payee}
	deal, err := account.Escrows.Open(t.Context(), terms, "deal", dapi.DealTerms{})
	require.NoError(t, err)
	assert.Equal(t, seen("/escrow"), seen("/escrow/"+string(deal.Escrow.ID)+"/actions/deal/confirm"))
	deleteFirst()
	_, err = account.Escrows.Act(t.Context(), terms, deal.Escrow.ID, dapi.EscrowActionTypeRelease, "release",
		dapi.DealTerms{})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Approvals())
	assert.Equal(t, seen("/escrow/"+string(deal.Escrow.ID)+"/actions"),
		seen("/escrow/"+string(deal.Escrow.ID)+"/actions/release/confirm"))
}

// A key that comes between the preparation of an action and its signature signs nothing of it.
func TestAKeyThatComesDuringAnEscrowActionSignsTheNext(t *testing.T) {
	w, integrator := funded(t)
	next, _ := w.second()
	w.Wire.OnAnswer(func(r *http.Request, _ *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/escrow") {
			assert.NoError(t, integrator.UseKey(next))
		} else if strings.HasSuffix(r.URL.Path, "/actions") {
			assert.NoError(t, integrator.UseKey(w.Key))
		}
	})
	escrows := integrator.Self().Escrows
	opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0}, []int{w.Key.Approvals(), next.Approvals()})
	_, err = escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "release-1",
		dapi.DealTerms{})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1}, []int{w.Key.Approvals(), next.Approvals()})
}

// A write that shows nothing is followed by a read in the session of the write, whatever key came between.
func TestAReadBehindAWriteKeepsItsSession(t *testing.T) {
	w, integrator := funded(t)
	account := integrator.Self()
	payment, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
		ContactID: w.Contact(account.Contacts, wallet()), Amount: amount("5"), Currency: dapi.USDC,
	}, "first", dapi.PayTerms{})
	require.NoError(t, err)
	next, _ := w.second()
	var carried []string
	w.Wire.OnAnswer(func(r *http.Request, _ *http.Response) {
		carried = append(carried, r.Header.Get("Authorization"))
		if r.Method == http.MethodPost {
			assert.NoError(t, integrator.UseKey(next))
		}
	})
	w.Host.Arm("POST", "/sandbox/payouts/*/status", sandbox.Respond(http.StatusNoContent, "").AfterCommit())
	moved, err := account.Sandbox.SetPayoutStatus(t.Context(), payment.Payout.ID, dapi.PayoutStatusFailed)
	require.NoError(t, err)
	assert.Equal(t, dapi.PayoutStatusFailed, moved.Status)
	require.Len(t, carried, 2)
	assert.Equal(t, carried[0], carried[1])
	assert.Zero(t, next.Logins())
}

func TestAllAccountsChangeOver(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	client, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "client@example.com"})
	require.NoError(t, err)
	theirs, own := integrator.For(client.ID), integrator.Self()
	next, deleteFirst := w.second()
	require.NoError(t, theirs.UseKey(next))
	deleteFirst()
	for _, account := range []*dapi.Account{theirs, own, integrator.For(client.ID)} {
		require.NoError(t, read(t.Context(), account))
	}
	_, err = integrator.Clients.Get(t.Context(), client.ID)
	require.NoError(t, err)
	assert.Equal(t, 1, next.Logins(), "one login serves them all")
}

func TestAKeyThatIsNoneChangesNothing(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	for _, key := range []signing.Signer{nil, &signing.DeveloperKey{}} {
		for _, use := range []func(signing.Signer) error{integrator.UseKey, integrator.Self().UseKey} {
			var refused *errors.InvalidInput
			require.ErrorAs(t, use(key), &refused)
			assert.Equal(t, "UseKey", refused.Operation)
			assert.Equal(t, "key", refused.Fields[0].Field)
		}
	}
	require.NoError(t, read(t.Context(), integrator.Self()))
	assert.Equal(t, 1, w.Key.Logins())
}

// A program can hand in its key whenever its configuration is read.
func TestTheSameKeyKeepsItsSession(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	other := &watchedkey.Key{Signer: w.Key.Signer}
	for _, key := range []signing.Signer{w.Key, other, w.Key} {
		require.NoError(t, read(t.Context(), integrator.Self()))
		require.NoError(t, integrator.UseKey(key))
	}
	assert.Equal(t, 1, w.Sent("CreateToken"))
}

// A store of sessions goes along: the new key does not act in the session of the old one, and its own is kept.
func TestTheStoreTakesTheSessionOfTheNewKey(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	integrator := w.integrator(stored(store))
	require.NoError(t, read(t.Context(), integrator.Self()))
	before, err := store.Load(t.Context())
	require.NoError(t, err)
	next, _ := w.second()
	require.NoError(t, integrator.UseKey(next))
	require.NoError(t, read(t.Context(), integrator.Self()))
	after, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, before.Credential, after.Credential)
	assert.False(t, before.AccessToken.Equal(after.AccessToken))
}

// Callers at work while keys change notice nothing, as long as both are registered.
func TestKeysChangeUnderLoad(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	next, _ := w.second()
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 20 {
				assert.NoError(t, read(t.Context(), integrator.Self()))
			}
		})
	}
	for i := range 20 {
		require.NoError(t, integrator.UseKey([]signing.Signer{next, w.Key}[i%2]))
	}
	callers.Wait()
}
