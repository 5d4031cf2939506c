package dapi_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

const arbitrum dapi.ChainID = 42161

// byCode signs what the host verifies, which names chains by their EVM ids as integers.
type byCode struct{ signing.Signer }

func (s byCode) Sign(ctx context.Context, message []byte) ([]byte, error) {
	for _, name := range []string{`"arbitrum"`, `"42161"`, `"arb.one-2"`} {
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

// The caller names a chain by its EVM id. An approval that names it by a code that the SDK knows is the same. The
// service is not asked.
func TestApprovalNamesTheChainByItsCode(t *testing.T) {
	for name, chain := range map[string]any{"its code": "arbitrum", "its EVM id": arbitrum, "its id as text": "42161"} {
		t.Run(name, func(t *testing.T) {
			w := newChainWorld(t, chain)
			_, err := w.pay()
			require.NoError(t, err)
			assert.Equal(t, 1, w.Fundings())
			assert.Zero(t, w.Sent("ListChains"))
		})
	}
}

// The service's list of chains is its own word, like the approval, and proves nothing about it.
func TestTheListOfChainsAllowsNoCode(t *testing.T) {
	for _, code := range []string{"solana", "base", "ethereum", "8453", "arbitrum-one"} {
		t.Run(code, func(t *testing.T) {
			w := newChainWorld(t, code)
			w.Host.Arm("GET", "/chains", sandbox.Respond(http.StatusOK, "").
				WithBody(`{"items":[{"chainId":42161,"code":"`+code+`","name":"Arbitrum","tokens":[]}]}`).Times(10))
			_, err := w.account.Chains.Live(t.Context())
			require.NoError(t, err)
			_, err = w.pay(journaled())
			assert.Equal(t, "destination.chainId", as[*signing.ApprovalRefused](t, err).Field)
			w.assertNothingSigned(t)
		})
	}
}

// A code that the SDK does not know is allowed by the developer's ChainNames, which the refusal names.
func TestChainNamesAllowACode(t *testing.T) {
	w := newChainWorld(t, "arb.one-2")
	_, err := w.pay()
	assert.ErrorContains(t, err, `add "arb.one-2": 42161 to the ChainNames`)
	w.assertNothingSigned(t)

	for _, names := range []map[dapi.ChainCode]dapi.ChainID{
		{"arb.one-2": arbitrum}, {"arb": arbitrum, "arb.one-2": arbitrum, "eth": 1},
	} {
		w = newChainWorld(t, "arb.one-2")
		developer := w.Developer()
		developer.ChainNames = names
		w.account = w.Integrator(developer).Self()
		_, err = w.pay()
		require.NoError(t, err)
		assert.Equal(t, 1, w.Fundings())
	}

	w = newChainWorld(t, "arb.one-2")
	developer := w.Developer()
	developer.ChainNames = map[dapi.ChainCode]dapi.ChainID{"arb.one-2": 10}
	w.account = w.Integrator(developer).Self()
	_, err = w.pay(journaled())
	refused := as[*signing.ApprovalRefused](t, err)
	assert.Equal(t, "destination.chainId", refused.Field)
	assert.NotContains(t, refused.Reason, "ChainNames", "the code names another chain")
	w.assertNothingSigned(t)
}

func TestApprovalOfAnotherChainIsNotSigned(t *testing.T) {
	for name, chain := range map[string]any{
		"another code": "base", "another EVM id": 8453, "an unknown code": "arbitrum-nova", "no name": "",
		"a code in other letters": "Arbitrum", "a code and more": "arbitrum ", "a line": "a\nChainNames",
	} {
		t.Run(name, func(t *testing.T) {
			w := newChainWorld(t, chain)
			_, err := w.pay(journaled())
			assert.Equal(t, "destination.chainId", as[*signing.ApprovalRefused](t, err).Field)
			w.assertNothingSigned(t)
		})
	}
	t.Run("no name mends what else is wrong", func(t *testing.T) {
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
			_, err := w.pay(journaled())
			as[*signing.ApprovalRefused](t, err)
			w.assertNothingSigned(t)
			assert.Zero(t, w.Sent("ListChains"), name)
		}
	})
}
