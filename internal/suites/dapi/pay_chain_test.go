package dapi_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

const arbitrum dapi.ChainID = 42161

// byCode signs what the host verifies, which names chains by their EVM ids as integers.
type byCode struct{ signing.Signer }

func (s byCode) Sign(ctx context.Context, message []byte) ([]byte, error) {
	for _, name := range []string{`"arbitrum"`, `"42161"`} {
		message = bytes.Replace(message, []byte(`"chainId":`+name), []byte(`"chainId":42161`), 1)
	}
	return s.Signer.Sign(ctx, message)
}

// newChainWorld is a world in which 25 USDC are paid to a wallet on Arbitrum, and approvals name the chain as chain
// says.
func newChainWorld(t *testing.T, chain any) *payWorld {
	t.Helper()
	w := newPayWorld(t)
	w.Key.Signer = byCode{w.Key.Signer}
	w.asked.ToChainID = arbitrum
	w.asked.ContactID = w.Contact(w.account.Contacts, dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: payee, ChainID: "arbitrum", Currency: "USDC",
	}))
	w.onBooking(func(payout map[string]any) {
		w.rewritePayload(payout, func(m map[string]any) { m["destination"].(map[string]any)["chainId"] = chain })
	})
	return w
}

// A booking may leave out the chain that it goes to: the approval names it.
func TestBookingThatDoesNotEchoItsChain(t *testing.T) {
	w := newChainWorld(t, arbitrum)
	w.onBooking(without("toChainId"))
	_, err := w.pay()
	require.NoError(t, err)
	assert.Equal(t, 1, w.Fundings())
}

// The caller names a chain by its EVM id. An approval that names it by its code is the same, by the listing.
func TestApprovalNamesTheChainByItsCode(t *testing.T) {
	t.Run("the listing is not known", func(t *testing.T) {
		w := newChainWorld(t, "arbitrum")
		for _, key := range []moneymovement.Key{"one", "two"} {
			_, err := w.payAs(key)
			require.NoError(t, err)
		}
		assert.Equal(t, 2, w.Fundings())
		assert.Equal(t, 1, w.Sent("ListChains"), "it is asked for once")
	})
	t.Run("the listing is known", func(t *testing.T) {
		w := newChainWorld(t, "arbitrum")
		_, err := w.account.Chains.Live(t.Context())
		require.NoError(t, err)
		_, err = w.pay()
		require.NoError(t, err)
		assert.Equal(t, 1, w.Sent("ListChains"))
	})
	t.Run("the listing has no other", func(t *testing.T) {
		w := newChainWorld(t, "arbitrum")
		w.Host.Arm("GET", "/chains", sandbox.Respond(http.StatusOK, "").
			WithBody(`{"items":[{"chainId":42161,"code":"arbitrum","name":"Arbitrum","tokens":[]}]}`))
		_, err := w.pay()
		require.NoError(t, err)
	})
	t.Run("by its EVM id, nothing is asked for", func(t *testing.T) {
		for _, id := range []any{arbitrum, "42161"} {
			w := newChainWorld(t, id)
			w.Host.Arm("GET", "/chains", sandbox.Respond(http.StatusForbidden, "forbidden").Times(10))
			_, err := w.pay()
			require.NoError(t, err, "%v", id)
			assert.Zero(t, w.Sent("ListChains"))
		}
	})
}

func TestApprovalOfAnotherChainIsNotSigned(t *testing.T) {
	for name, chain := range map[string]any{
		"another code": "base", "another EVM id": 8453, "an unknown code": "arbitrum-nova", "no name": "",
	} {
		t.Run(name, func(t *testing.T) {
			w := newChainWorld(t, chain)
			_, err := w.pay(dapi.FirstUse())
			assert.Equal(t, "destination.chainId", as[*signing.ApprovalRefused](t, err).Field)
			w.assertNothingSigned(t)
		})
	}
	t.Run("no listing can mend what else is wrong", func(t *testing.T) {
		for name, arrange := range map[string]func(w *payWorld){
			"the amount": func(w *payWorld) {
				w.onBooking(func(payout map[string]any) {
					w.rewritePayload(payout, func(m map[string]any) { m["amount"] = "250" })
				})
			},
			"no chain was asked for": func(w *payWorld) { w.asked.ToChainID = 0 },
		} {
			w := newChainWorld(t, arbitrum)
			arrange(w)
			_, err := w.pay(dapi.FirstUse())
			as[*signing.ApprovalRefused](t, err)
			w.assertNothingSigned(t)
			assert.Zero(t, w.Sent("ListChains"), name)
		}
	})
	t.Run("a listing that gives two EVM ids to one chain", func(t *testing.T) {
		w := newChainWorld(t, "8453")
		w.Host.Arm("GET", "/chains", sandbox.Respond(http.StatusOK, "").
			WithBody(`{"items":[{"chainId":42161,"code":"8453","name":"Arbitrum","tokens":[]}]}`))
		_, err := w.pay(dapi.FirstUse())
		assert.Equal(t, "destination.chainId", as[*signing.ApprovalRefused](t, err).Field)
		w.assertNothingSigned(t)
	})
}

// A listing that cannot be had leaves the approval refused as it was, and is not waited for while the approval's window
// closes.
func TestChainListingThatCannotBeHad(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"refused": sandbox.Respond(http.StatusForbidden, "forbidden"), "slow": sandbox.Delay(time.Hour),
		"lost": sandbox.DropBefore(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newChainWorld(t, "arbitrum")
				w.Host.Arm("GET", "/chains", fault.Times(100))
				started := time.Now()
				_, err := w.pay(dapi.FirstUse())
				assert.Equal(t, "destination.chainId", as[*signing.ApprovalRefused](t, err).Field)
				assert.LessOrEqual(t, time.Since(started), 5*time.Second)
				w.assertNothingSigned(t)
			})
		})
	}
}
