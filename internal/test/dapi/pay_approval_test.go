package dapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// onBooking changes the responses to bookings; response is the payout's JSON.
func (w *world) onBooking(change func(payout map[string]any)) {
	w.onSuccess("POST", bookPath, change)
}

// rewritePayload changes what the approval says, and leaves it canonical: encoding/json sorts names and adds no space.
func (w *world) rewritePayload(payout map[string]any, change func(members map[string]any)) {
	approval := payout["approval"].(map[string]any)
	payload, err := base64.StdEncoding.DecodeString(approval["payload"].(string))
	assert.NoError(w, err)
	var members map[string]any
	assert.NoError(w, json.Unmarshal(payload, &members))
	change(members)
	payload, err = json.Marshal(members)
	assert.NoError(w, err)
	approval["payload"] = payload
}

// Rule: session.prepare-sign-confirm
func TestApprovalOfAnythingElseIsNotSigned(t *testing.T) {
	set := func(name string, value any) func(map[string]any) {
		return func(members map[string]any) { members[name] = value }
	}
	to := func(destination map[string]any) func(map[string]any) { return set("destination", destination) }
	for name, c := range map[string]struct {
		change func(members map[string]any)
		field  string
	}{
		"another approval":    {set("approvalId", "apr_other"), "approvalId"},
		"another operation":   {set("operation", "escrow.release"), "operation"},
		"another payout":      {set("resourceId", "po_other"), "resourceId"},
		"another account":     {set("account", "cl_other"), "account"},
		"a larger amount":     {set("amount", "25.01"), "amount"},
		"a smaller amount":    {set("amount", "2.5"), "amount"},
		"an amount in number": {set("amount", 25), "amount"},
		"another asset":       {set("currency", "EURC"), "currency"},
		"another contact":     {to(map[string]any{"contactId": "ct_other"}), "destination.contactId"},
		"an address": {to(map[string]any{"address": payee}),
			"destination.contactId"},
		"a chain as well": {func(m map[string]any) {
			m["destination"].(map[string]any)["chainId"] = 1
		}, "destination.chainId"},
		"no destination": {func(m map[string]any) { delete(m, "destination") }, "destination"},
		"another end":    {set("expiresAt", "2126-01-01T00:00:00Z"), "expiresAt"},
		"no nonce":       {set("nonce", ""), "nonce"},
		"something more": {set("andAlso", "everything"), "andAlso"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(func(payout map[string]any) { w.rewritePayload(payout, c.change) })
			_, err := w.pay(journaled())
			assert.Equal(t, c.field, as[*signing.ApprovalRefused](t, err).Field)
			w.assertNothingSigned(t)
		})
	}
}

func TestEndedBookingIsNotSigned(t *testing.T) {
	for status, completed := range map[dapi.PayoutStatus]bool{
		dapi.PayoutStatusCompleted: true, dapi.PayoutStatusFailed: false, dapi.PayoutStatusRefunded: false,
		dapi.PayoutStatusExpired: false,
	} {
		t.Run(string(status), func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(func(payout map[string]any) {
				payout["status"] = status
				delete(payout, "approval")
			})
			payment, err := w.pay()
			assert.Equal(t, status, payment.Payout.Status)
			w.assertNothingSigned(t)
			if completed {
				require.NoError(t, err)
				return
			}
			as[*dapi.PayoutNotCompleted](t, err)
		})
	}
}

func (w *payWorld) assertNothingSigned(t *testing.T) {
	t.Helper()
	assert.Zero(t, w.Key.Approvals(), "the signer is not called")
	sent := w.traffic()
	assert.Equal(t, 1, sent.books)
	assert.Zero(t, sent.confirms, "and nothing is confirmed")
	assert.Zero(t, w.Fundings())
}

func TestApprovalThatCannotBeReadIsNotSigned(t *testing.T) {
	for name, change := range map[string]func(payout map[string]any){
		"opaque": func(payout map[string]any) {
			payout["approval"].(map[string]any)["payload"] = []byte("\x00\x01")
		},
		"empty":       func(payout map[string]any) { payout["approval"].(map[string]any)["payload"] = "" },
		"no approval": func(payout map[string]any) { delete(payout, "approval") },
		"no id":       func(payout map[string]any) { payout["approval"].(map[string]any)["id"] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(change)
			_, err := w.pay(journaled())
			as[*signing.ApprovalRefused](t, err)
			w.assertNothingSigned(t)
		})
	}
}

// A window that is longer than the service's own is not its own, whatever the payload says and whoever judges it.
//
// Source: Limits, Lifetimes.
func TestApprovalWithoutAnEndIsNotSigned(t *testing.T) {
	w := newPayWorld(t)
	w.onBooking(func(payout map[string]any) {
		const end = "9999-12-31T23:59:59Z"
		w.rewritePayload(payout, func(m map[string]any) { m["expiresAt"] = end })
		payout["approval"].(map[string]any)["expiresAt"] = end
	})
	_, err := w.pay(journaled())
	refused := as[*signing.ApprovalRefused](t, err)
	assert.Equal(t, "expiresAt", refused.Field)
	assert.False(t, refused.Expired)
	w.assertNothingSigned(t)
}

// An approval that does not say when it ends is given the end that its payload says, or that of the stated window.
//
// Rule: lifetime.payout-approval
func TestApprovalOfABooking(t *testing.T) {
	w := newPayWorld(t)
	ofApproval := func(change func(approval map[string]any)) func(map[string]any) {
		return func(payout map[string]any) { change(payout["approval"].(map[string]any)) }
	}
	book := func(change func(map[string]any)) time.Time {
		w.onBooking(change)
		booked, err := w.account.Payouts.Book(t.Context(), w.asked,
			moneymovement.IdempotencyKey(moneymovement.Key(t.Name())))
		require.NoError(t, err)
		return booked.Approval.ExpiresAt
	}
	var end string
	said := book(ofApproval(func(approval map[string]any) { end = approval["expiresAt"].(string) }))
	assert.Equal(t, end, said.Format(time.RFC3339Nano))
	assert.Equal(t, said, book(ofApproval(func(approval map[string]any) { delete(approval, "expiresAt") })),
		"as its payload says")

	minute := said.Truncate(time.Minute)
	assert.Equal(t, minute, book(ofApproval(func(approval map[string]any) { approval["expiresAt"] = minute })),
		"as it was returned")

	opaque := book(ofApproval(func(approval map[string]any) {
		delete(approval, "expiresAt")
		approval["payload"] = []byte{0}
	}))
	assert.WithinDuration(t, w.Host.Now().Add(120*time.Second), opaque, 5*time.Second)
}

func TestVerifierReplacesTheCheck(t *testing.T) {
	w := newPayWorld(t)
	opaque := []byte("opaque")
	w.onBooking(func(payout map[string]any) { payout["approval"].(map[string]any)["payload"] = opaque })
	var judged signing.Intent
	self := w.integrator(func(d *dapi.Developer) {
		d.Verifier = func(_ context.Context, a signing.Approval, want signing.Intent) error {
			assert.Equal(t, opaque, a.Payload)
			judged = want
			return nil
		}
	}).Self()
	_, err := self.Payouts.Pay(t.Context(), w.asked, "invoice-42", payTerms(journaled()))
	as[*errors.SignatureInvalid](t, err) // for the host knows another payload
	assert.Equal(t, "payout.fund", judged.Operation)
	assert.Equal(t, "self", judged.Account)
	assert.True(t, judged.Amount.Equal(w.asked.Amount))
	assert.Equal(t, string(w.asked.ContactID), judged.Destination.ContactID)
}

// A Verifier that refuses is asked again at most once for the contact's other form, and once for the chain's other
// name.
func TestRefusingVerifierIsNotCalledForEver(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal signing.ApprovalRefused
		asked   int
	}{
		"the contact":                 {signing.ApprovalRefused{Field: "destination.contactId"}, 1},
		"the contact, as it is":       {signing.ApprovalRefused{Field: "destination.contactId", Got: "ct_other"}, 1},
		"the chain":                   {signing.ApprovalRefused{Field: "destination.chainId", Got: "arbitrum"}, 1},
		"the chain, without its code": {signing.ApprovalRefused{Field: "destination.chainId"}, 1},
		"the time":                    {signing.ApprovalRefused{Field: "expiresAt"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newChainWorld(t, arbitrum)
			var asked atomic.Int32
			self := w.integrator(func(d *dapi.Developer) {
				d.Verifier = func(context.Context, signing.Approval, signing.Intent) error {
					if asked.Add(1) > 9 {
						return errors.New("asked for ever")
					}
					return &tc.refusal
				}
			}).Self()
			_, err := self.Payouts.Pay(t.Context(), w.asked, "invoice-42", payTerms(journaled()))
			assert.Equal(t, tc.refusal.Field, as[*signing.ApprovalRefused](t, err).Field)
			assert.EqualValues(t, tc.asked, asked.Load())
			w.assertNothingSigned(t)
		})
	}
}

func TestApprovalNamesTheClient(t *testing.T) {
	w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = 0 }))
	integrator := w.integrator()
	client, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
	require.NoError(t, err)
	acme := integrator.For(client.ID)
	w.Credit(acme.Sandbox, "10", dapi.USDC)
	bob := w.Contact(acme.Contacts, wallet())
	asked := dapi.PayoutCreate{ContactID: bob, Amount: amount("10"), Currency: dapi.USDC}
	booked, err := acme.Payouts.Book(t.Context(), asked)
	require.NoError(t, err)

	_, err = integrator.Self().Payouts.Confirm(t.Context(), asked, booked)
	assert.Equal(t, "account", as[*signing.ApprovalRefused](t, err).Field,
		"another account does not sign for the client")
	other := asked
	other.Amount = amount("9")
	_, err = acme.Payouts.Confirm(t.Context(), other, &dapi.Payout{ID: booked.ID, Approval: booked.Approval})
	assert.Equal(t, string(client.ID), as[*signing.ApprovalRefused](t, err).Account)
	_, err = acme.Payouts.Confirm(t.Context(), asked, booked)
	require.NoError(t, err)
}

// The integrator's own account pays for no client: an approval that names it is not signed for a client's payment, in
// one call or in steps, for a payout or for an escrow. Nor is that of a client signed for the integrator.
func TestApprovalOfTheIntegratorIsNotSignedForAClient(t *testing.T) {
	w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = 0 }))
	integrator := w.integrator()
	client, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
	require.NoError(t, err)
	for asked, c := range map[string]struct {
		account *dapi.Account
		named   string
	}{
		"a client":       {integrator.For(client.ID), "self"},
		"the integrator": {integrator.Self(), string(client.ID)},
	} {
		w.Wire.OnResponse(nil)
		w.Credit(c.account.Sandbox, "50", dapi.USDC)
		payout := dapi.PayoutCreate{ContactID: w.Contact(c.account.Contacts, wallet()), Amount: amount("10"),
			Currency: dapi.USDC}
		escrow := dapi.EscrowCreate{Amount: amount("10"), Currency: dapi.USDC, Payee: payee}
		w.onSuccessOf([]string{"POST /payouts", "POST /escrow", "POST /escrow/*/actions"}, func(body map[string]any) {
			if action, ok := body["action"].(map[string]any); ok {
				body = action
			}
			w.rewritePayload(body, func(m map[string]any) { m["account"] = c.named })
		})
		for way, pay := range map[string]func(context.Context) error{
			"Pay": func(ctx context.Context) error {
				_, err := c.account.Payouts.Pay(ctx, payout, "pay", dapi.PayTerms{})
				return err
			},
			"Confirm": func(ctx context.Context) error {
				booked, err := c.account.Payouts.Book(ctx, payout)
				require.NoError(t, err)
				_, err = c.account.Payouts.Confirm(ctx, payout, booked)
				return err
			},
			"Open": func(ctx context.Context) error {
				_, err := c.account.Escrows.Open(ctx, escrow, "open", dapi.EscrowTerms{})
				return err
			},
			"Act": func(ctx context.Context) error {
				created, err := c.account.Escrows.Create(ctx, escrow)
				require.NoError(t, err)
				_, err = c.account.Escrows.Act(ctx, escrow, created.ID, dapi.EscrowActionTypeApprove, "act",
					dapi.EscrowTerms{})
				return err
			},
		} {
			t.Run(asked+"/"+way, func(t *testing.T) {
				refused := as[*signing.ApprovalRefused](t, reason(pay(t.Context())))
				assert.Equal(t, "account", refused.Field)
				assert.Equal(t, c.named, refused.Got)
				assert.Zero(t, w.Key.Approvals())
			})
		}
	}
}

func TestContactIDWithoutItsPrefix(t *testing.T) {
	w := newPayWorld(t)
	whole := string(w.asked.ContactID)
	w.asked.ContactID = w.asked.ContactID[len("ct_"):]
	_, err := w.pay(journaled())
	require.NoError(t, err, "where the service spells it as it was asked")

	w.onBooking(func(payout map[string]any) {
		payout["contactId"] = whole
		w.rewritePayload(payout, func(m map[string]any) { m["destination"].(map[string]any)["contactId"] = whole })
	})
	_, err = w.payAs("invoice-43", journaled())
	// signed where the service spells it out; the host knows another payload
	as[*errors.SignatureInvalid](t, err)
}

// Rule: coverage.cross-chain
func TestCrossChainPayoutIsApprovedForItsChain(t *testing.T) {
	w := newPayWorld(t)
	w.asked.ContactID = w.Contact(w.account.Contacts, dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: payee, ChainID: "arbitrum", Currency: "USDC",
	}))
	w.asked.FromChainID, w.asked.ToChainID = 8453, 42161
	_, err := w.pay()
	require.NoError(t, err)
	assert.Equal(t, 1, w.Fundings())
}

// A service may replay a booking's first response as it was, however old its approval is.
func TestReplayedFirstResponseWithAnExpiredApproval(t *testing.T) {
	for name, c := range map[string]struct {
		replays int
		want    traffic
	}{
		"then a fresh one":   {replays: 1, want: traffic{books: 3, confirms: 2, reads: 1}},
		"and never another ": {replays: 100, want: traffic{books: 4, confirms: 2, reads: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				var first map[string]any
				replays := -1
				w.onBooking(func(payout map[string]any) {
					if first == nil {
						first = maps.Clone(payout)
					}
					if replays++; replays > 0 && replays <= c.replays {
						clear(payout)
						maps.Copy(payout, first)
					}
				})
				w.refuse(http.StatusForbidden, "signing_policy_refused")
				_, err := w.payAs("invoice-42", journaled())
				as[*errors.SigningPolicyRefused](t, err)

				time.Sleep(5 * time.Minute)
				_, err = w.payAs("invoice-42")
				assert.Equal(t, c.want, w.traffic())
				if c.replays == 1 {
					require.NoError(t, err)
					assert.Equal(t, 1, w.Fundings())
					return
				}
				as[*errors.FundingAttemptExpired](t, as[*errors.InDoubt](t, err).Cause)
				assert.Zero(t, w.Fundings())
			})
		})
	}
}

// If the service returns another payout for a payment that is booked again, the first one is paid.
func TestReopenedPaymentWithAnotherPayoutIsNotSigned(t *testing.T) {
	for name, c := range map[string]struct {
		expired bool // the first price, so that it is not signed
		want    traffic
	}{
		"after a signature": {false, traffic{books: 2, confirms: 2, reads: 1}},
		"before one":        {true, traffic{books: 2, confirms: 1, reads: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			books := 0
			w.onBooking(func(payout map[string]any) {
				if books++; books > 1 {
					payout["id"] = "po_another"
				} else if c.expired {
					payout["quote"].(map[string]any)["expiresAt"] = time.Now().UTC().Format(time.RFC3339)
				}
			})
			if !c.expired {
				w.refuse(http.StatusConflict, "quote_expired")
			}
			payment, err := w.pay(journaled())
			require.NoError(t, err)
			assert.NotEqual(t, dapi.PayoutID("po_another"), payment.Payout.ID)
			assert.Equal(t, c.want, w.traffic())
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

// A sandbox host and a client meet on a real socket here, as in an integrator's own test.
func TestPayOverASocket(t *testing.T) {
	served := worlds.Serve(t)
	account := served.Integrator(served.Developer()).Self()
	w := &payWorld{world: &world{served}, account: account}
	w.Credit(account.Sandbox, "50", dapi.USDC)
	bob := w.Contact(account.Contacts, wallet())
	w.asked = dapi.PayoutCreate{ContactID: bob, Amount: amount("20"), Currency: dapi.USDC}

	lost := w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
	expired := w.Host.Arm("POST", bookPath, sandbox.ExpireToken())
	payment, err := w.payAs("invoice-42")
	require.NoError(t, err)
	assert.Equal(t, 1, lost.Consumed())
	assert.Equal(t, 1, expired.Consumed())
	payment.Payout, err = account.Payouts.Wait(t.Context(), payment.Payout.ID)
	require.NoError(t, err)
	assert.Equal(t, dapi.PayoutStatusCompleted, payment.Payout.Status)
	assert.Equal(t, 1, w.Fundings())
}

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
func TestChainListDoesNotAllowAChainCode(t *testing.T) {
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
func TestChainNamesAllowAChainCode(t *testing.T) {
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

// settling is a booking of a service with other words, that offers no approval any more: an earlier call has confirmed
// it.
func settling(payout map[string]any) {
	payout["status"] = "settling"
	delete(payout, "approval")
	delete(payout, "transactionHash")
}

// A booking that offers nothing to approve, in words that nobody here knows, is read again: the payout itself may
// show what it became.
func TestBookingWithoutAnApprovalInAnUnknownStatus(t *testing.T) {
	status := func(word string) func(map[string]any) {
		return func(payout map[string]any) { payout["status"] = word }
	}
	for name, tc := range map[string]struct {
		reading func(payout map[string]any)
		state   moneymovement.PaymentState
	}{
		"the payout is on its way":          {status("processing"), moneymovement.PaymentPaid},
		"the payout arrived":                {status("completed"), moneymovement.PaymentPaid},
		"the payout failed":                 {status("failed"), moneymovement.PaymentEnded},
		"the payout was refunded":           {status("refunded"), moneymovement.PaymentEnded},
		"the payout says as little":         {settling, moneymovement.PaymentInDoubt},
		"the payout waits for its approval": {status("awaiting_approval"), moneymovement.PaymentInDoubt},
		"the payout is of another key": {func(payout map[string]any) {
			payout["idempotencyKey"], payout["status"] = "k", "processing"
		}, moneymovement.PaymentInDoubt},
		"the payout is of an amount not due": {func(payout map[string]any) {
			payout["amount"], payout["status"] = "26", "processing"
		}, moneymovement.PaymentInDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			reads := false
			w.onSuccessOf(payoutResponses, func(payout map[string]any) {
				if reads = reads || w.Sent("GetPayout") > 0; reads {
					tc.reading(payout)
				} else {
					settling(payout)
				}
			})
			payment, err := w.pay()
			assert.Equal(t, tc.state, payment.State, "%v", err)
			assert.Zero(t, w.Key.Approvals(), "the signer is not called")
			if tc.state == moneymovement.PaymentInDoubt {
				w.assertInDoubt(t, payment, err)
				require.ErrorContains(t, as[*errors.InDoubt](t, err).Cause,
					`the booking has no approval to sign, and its status is "settling"`)
			}
		})
	}
}

// A payment that this client has seen paid stays paid when its booking is repeated in words that it does not know, also
// where it cannot be read.
func TestPaymentSeenAsPaidStaysPaid(t *testing.T) {
	for name, readable := range map[string]bool{"it can be read": true, "it cannot be read": false} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			first, err := w.pay(journaled())
			require.NoError(t, err)
			w.onBooking(settling)
			if !readable {
				w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
			}
			again, err := w.pay(journaled())
			require.NoError(t, err)
			assert.Equal(t, first.Payout.ID, again.Payout.ID)
			assert.Equal(t, moneymovement.PaymentPaid, again.State)
			assert.NotEmpty(t, again.Payout.TransactionHash, "as it stands now, or as it was seen before")
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

// A booking without status and approval is an error of the service if it is new, and else what an earlier call may have
// left.
func TestBookingWithoutStatusAndApproval(t *testing.T) {
	bare := func(payout map[string]any) { settling(payout); delete(payout, "status") }
	w := newPayWorld(t)
	w.onBooking(bare)
	_, err := w.payAs("invoice-41", journaled())
	assert.Equal(t, "approval", as[*signing.ApprovalRefused](t, err).Field, "nothing was paid before")

	w.onBooking(func(map[string]any) {})
	w.refuse(http.StatusForbidden, "signing_policy_refused")
	_, err = w.payAs("invoice-42", journaled())
	as[*errors.SigningPolicyRefused](t, err)
	w.account = w.integrator().Self()
	w.onBooking(bare)
	_, err = w.payAs("invoice-42")
	require.ErrorContains(t, as[*errors.InDoubt](t, err).Cause, "the booking has no approval to sign")
}
