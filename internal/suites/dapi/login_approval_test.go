package dapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Bytes that came as an approval are not signed as a challenge, even if nobody can read them. It does not matter which
// account of the credential met them, nor whether they were to be signed.
func TestApprovalThatWasSeenIsNoChallenge(t *testing.T) {
	opaque := []byte("\x01opaque")
	approval := func(in any) {
		in.(map[string]any)["approval"].(map[string]any)["payload"] = opaque
	}
	deal := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
		Payee: payee}
	for name, c := range map[string]struct {
		pattern string
		method  string
		place   func(body map[string]any)
		call    func(ctx context.Context, w *payWorld, account *dapi.Account) error
	}{
		"a booking": {"/payouts", "POST", func(body map[string]any) { approval(body) },
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				_, err := account.Payouts.Book(ctx, w.asked)
				return err
			}},
		"a booking of another process": {"", "", nil,
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				_, err := account.Payouts.Confirm(ctx, w.asked, &dapi.Payout{
					ID: "po_1", Approval: &dapi.Approval{ID: "apr_1", Payload: opaque, ExpiresAt: w.Host.Now().
						Add(time.Minute)},
				})
				as[*signing.ApprovalRefused](w.T, err)
				return read(ctx, account) // so that there is a session
			}},
		"a payout that was read": {"/payouts/*", "GET", func(body map[string]any) { approval(body) },
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				booked, err := account.Payouts.Book(ctx, w.asked)
				require.NoError(w, err)
				_, err = account.Payouts.Get(ctx, booked.ID)
				return err
			}},
		"a deal": {"/escrow", "POST", func(body map[string]any) { approval(body["action"]) },
			func(ctx context.Context, _ *payWorld, account *dapi.Account) error {
				_, err := account.Escrows.Create(ctx, deal)
				return err
			}},
		"an action": {"/escrow/*/actions", "POST", func(body map[string]any) { approval(body["action"]) },
			func(ctx context.Context, w *payWorld, account *dapi.Account) error {
				created, err := account.Escrows.Create(ctx, deal)
				require.NoError(w, err)
				_, err = account.Escrows.Prepare(ctx, created.ID, dapi.EscrowActionTypeApprove)
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			integrator := w.integrator()
			w.account = integrator.Self()
			w.onSuccess(c.method, c.pattern, c.place)
			require.NoError(t, c.call(t.Context(), w, w.account))

			w.answerPayload(opaque)
			w.Host.Reset() // and with it the session
			logins := w.Key.Logins()
			refused := as[*signing.ChallengeRefused](t, read(t.Context(), integrator.For("cl_8fK2")))
			assert.Contains(t, refused.Reason, "an approval")
			assert.Equal(t, logins, w.Key.Logins(), "the signer is not called")
			assert.Zero(t, w.Key.Approvals())

			w.Wire.OnAnswer(nil)
			assert.NoError(t, read(t.Context(), integrator.Self()), "a good challenge is signed as before")
		})
	}
}

func TestChallengeVerifierHasTheLastWord(t *testing.T) {
	no := errors.New("not how my service writes them")
	for name, c := range map[string]struct {
		payload string
		says    error
		refused bool // by the check
	}{
		"it refuses a good one": {payload: "sign me in", says: no},
		"it allows a bad one":   {payload: `{"operation":"payout.fund"}`, refused: true},
		"it agrees":             {payload: "sign me in"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answerPayload([]byte(c.payload))
			err := read(t.Context(), w.integrator(func(d *dapi.Developer) {
				d.ChallengeVerifier = func(_ context.Context, challenge signing.Challenge, verdict error) error {
					assert.Equal(t, signing.Challenge{ID: "ch_1", Payload: []byte(c.payload)}, challenge)
					assert.Equal(t, c.refused, verdict != nil, "%v", verdict)
					return c.says
				}
			}).Self())
			if c.says != nil {
				as[*signing.ChallengeRefused](t, err)
				require.ErrorIs(t, err, no)
				assert.Zero(t, w.Key.Logins())
				return
			}
			as[*errors.ChallengeNotFound](t, err) // for the host does not know it
			assert.Equal(t, 1, w.Key.Logins())
		})
	}
}

// A signature that was not made is an error with a type: the call was not delivered, and the reason is in it.
func TestLoginThatIsNotSignedHasAType(t *testing.T) {
	w := newWorld(t)
	err := read(t.Context(), w.integrator(func(d *dapi.Developer) { d.Key = brokenSigner{d.Key, context.Canceled} }).
		Self())
	as[*signing.NotSigned](t, err)
	undelivered := as[*errors.NotDelivered](t, err)
	assert.Equal(t, "CreateToken", undelivered.Operation)
	assert.Empty(t, undelivered.IdempotencyKey)
	require.ErrorIs(t, err, context.Canceled)
}

// A developer who knows what a challenge looks like signs nothing else at a login.
func TestLoginThatSignsOnlyChallenges(t *testing.T) {
	for _, purpose := range []string{"login", "payment"} {
		w := newWorld(t)
		account := w.integrator(func(d *dapi.Developer) {
			d.ChallengeVerifier = signing.OnlyChallenges(signing.ChallengeForm{
				"challengeId": "", "email": d.Email, "expiresAt": "", "nonce": "", "purpose": purpose,
			})
		}).Self()
		err := read(t.Context(), account)
		if purpose == "login" {
			require.NoError(t, err, "as the host has it")
			continue
		}
		assert.Contains(t, as[*signing.ChallengeRefused](t, err).Reason, `"purpose"`)
		assert.Zero(t, w.Sent("CreateToken"))
	}
}
