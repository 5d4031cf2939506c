package signing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/signing"
)

var (
	now     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	expires = now.Add(120 * time.Second)
)

// terms are a payload's members.
type terms map[string]any

func payoutTerms() terms {
	return terms{
		"approvalId":  "apr_1",
		"operation":   "payout.fund",
		"resourceId":  "po_7",
		"account":     "cl_8fK2",
		"amount":      "25.5",
		"currency":    "USDC",
		"destination": terms{"contactId": "ct_9"},
		"expiresAt":   "2026-03-01T12:02:00Z",
		"nonce":       "0f1e2d3c",
	}
}

func payoutIntent() signing.Intent {
	return signing.Intent{
		Operation:   "payout.fund",
		ResourceID:  "po_7",
		Account:     "cl_8fK2",
		Amount:      decimal.RequireFromString("25.50"),
		Currency:    "USDC",
		Destination: signing.Destination{ContactID: "ct_9"},
	}
}

// canonical writes members as the service does: RFC 8785.
func canonical(t require.TestingT, members terms) []byte {
	data, err := json.Marshal(members)
	require.NoError(t, err)
	value := codec.Value(data)
	require.NoError(t, value.Canonicalize())
	return value
}

func approvalOf(t require.TestingT, members terms) signing.Approval {
	return signing.Approval{ID: "apr_1", Payload: canonical(t, members), ExpiresAt: expires}
}

// requireRefused proves that an approval is refused for a member, and that its signer is never asked.
func requireRefused(
	t require.TestingT, key *signing.DeveloperKey, a signing.Approval, want signing.Intent, field string,
) *signing.ApprovalRefused {
	signer := &recordingSigner{DeveloperKey: key}
	signature, err := signing.SignApproval(context.Background(), signer, a, want, now)
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, field, refused.Field, "%v", err)
	require.Equal(t, a.ID, refused.ApprovalID)
	require.NotEmpty(t, refused.Reason)
	require.Nil(t, signature)
	require.Empty(t, signer.signed, "the signer was asked")
	require.Equal(t, err, signing.CheckApproval(a, want, now))
	return refused
}

func TestSignApprovalSignsThePayload(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		a := approvalOf(t, payoutTerms())
		signature, err := signing.SignApproval(t.Context(), key, a, payoutIntent(), now)
		require.NoError(t, err)
		require.NoError(t, signing.Verify(key.PublicKey(), a.Payload, signature))
	})
}

func TestCheckApprovalAcceptsTheSameInAnotherSpelling(t *testing.T) {
	const address = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
	for name, change := range map[string]func(members terms, want *signing.Intent){
		"amount with zeros": func(members terms, _ *signing.Intent) { members["amount"] = "025.500" },
		"time with an offset": func(members terms, _ *signing.Intent) {
			members["expiresAt"] = "2026-03-01T13:02:00+01:00"
		},
		"time with a fraction": func(members terms, _ *signing.Intent) {
			members["expiresAt"] = "2026-03-01T12:02:00.000Z"
		},
		"one's own account": func(members terms, want *signing.Intent) {
			members["account"], want.Account = "self", "self"
		},
		"lower-case address": onChain(strings.ToLower(address), "base", address, "base"),
		"address without a chain": func(members terms, want *signing.Intent) {
			members["destination"] = terms{"address": address}
			want.Destination = signing.Destination{Address: address}
		},
		"chain id as an integer":  onChain(address, 8453, address, "8453"),
		"chain id as a string":    onChain(address, "8453", address, "8453"),
		"another kind of address": onChain("So1anaAddre55", "solana", "So1anaAddre55", "solana"),
		"names beyond ASCII": func(members terms, want *signing.Intent) {
			members["resourceId"], want.ResourceID = "po_Zürich", "po_Zürich"
		},
	} {
		t.Run(name, func(t *testing.T) {
			members, want := payoutTerms(), payoutIntent()
			change(members, &want)
			require.NoError(t, signing.CheckApproval(approvalOf(t, members), want, now))
		})
	}
}

func TestApprovalRefusedSaysWhatDiffers(t *testing.T) {
	members := payoutTerms()
	members["amount"] = "26"
	refused := requireRefused(t, newKey(t), approvalOf(t, members), payoutIntent(), "amount")
	assert.Equal(t, "25.5", refused.Want)
	assert.Equal(t, "26", refused.Got)
	assert.ErrorContains(t, refused,
		`signing: approval "apr_1" refused: amount: it differs from what was asked for (got "26", want "25.5")`)
	refused.Resource = "po_7" // as a flow knows it
	assert.ErrorContains(t, refused, `approval "apr_1" of "po_7" refused`)

	members = payoutTerms()
	members["account"] = strings.Repeat("x", 9000) + "\n"
	refused = requireRefused(t, newKey(t), approvalOf(t, members), payoutIntent(), "account")
	assert.Less(t, len(refused.Error()), 300, "a payload must not flood a log")
	assert.NotContains(t, refused.Error(), "\n")
}

// Any one change of any member is refused, and never reaches the signer.
func TestAnySingleChangeIsRefused(t *testing.T) {
	key := newKey(t)
	text := rapid.StringMatching(`[a-z0-9_.]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		members := terms{
			"approvalId": "apr_1",
			"operation":  text.Draw(t, "operation"),
			"resourceId": text.Draw(t, "resource"),
			"account":    text.Draw(t, "account"),
			"amount": fmt.Sprintf("%d.%02d", rapid.IntRange(1, 1e6).Draw(t, "units"),
				rapid.IntRange(0, 99).Draw(t, "cents")),
			"currency":  text.Draw(t, "currency"),
			"expiresAt": expires.Format(time.RFC3339),
			"nonce":     text.Draw(t, "nonce"),
		}
		want := signing.Intent{
			Operation:  members["operation"].(string),
			ResourceID: members["resourceId"].(string),
			Account:    members["account"].(string),
			Amount:     decimal.RequireFromString(members["amount"].(string)),
			Currency:   members["currency"].(string),
		}
		destination := terms{}
		if rapid.Bool().Draw(t, "to a contact") {
			want.Destination.ContactID = text.Draw(t, "contact")
			destination["contactId"] = want.Destination.ContactID
		} else {
			want.Destination.Address, want.Destination.ChainID = text.Draw(t, "address"), text.Draw(t, "chain")
			destination["address"], destination["chainId"] = want.Destination.Address, want.Destination.ChainID
		}
		members["destination"] = destination

		require.NoError(t, signing.CheckApproval(approvalOf(t, members), want, now))

		var names []string
		for name := range members {
			if name != "nonce" && name != "destination" { // any nonce will do
				names = append(names, name)
			}
		}
		for name := range destination {
			names = append(names, "destination."+name)
		}
		field := rapid.SampledFrom(sorted(names)).Draw(t, "changed")
		changed := maps.Clone(members)
		place, name := changed, field
		if inner, ok := strings.CutPrefix(field, "destination."); ok {
			place, name = maps.Clone(destination), inner
			changed["destination"] = place
		}
		switch name {
		case "amount":
			place[name] = want.Amount.Add(decimal.New(rapid.Int64Range(1, 1e6).Draw(t, "more"), -6)).String()
		case "expiresAt":
			place[name] = expires.Add(time.Duration(rapid.IntRange(1, 1e6).Draw(t, "later")) * time.Second).
				Format(time.RFC3339)
		default:
			place[name] = place[name].(string) + text.Draw(t, "suffix")
		}
		requireRefused(t, key, approvalOf(t, changed), want, field)
	})
}

// FuzzCheckApproval proves that no payload panics, and that only one is accepted: the canonical terms with some nonce.
func FuzzCheckApproval(f *testing.F) {
	good := canonical(f, payoutTerms())
	f.Add(good)
	f.Add([]byte(nil))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"amount":1e400,"destination":{}}`))
	f.Add([]byte(strings.Replace(string(good), "25.5", "25.50", 1)))
	f.Add([]byte(strings.Replace(string(good), "25.5", strings.Repeat("1", 5000), 1)))
	f.Add([]byte(strings.Replace(string(good), "ct_9", "\u202ect_8", 1)))
	f.Add([]byte(strings.TrimSuffix(string(good), "}") + `,"x\n` + strings.Repeat("y", 5000) + `":1}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		a := signing.Approval{ID: "apr_1", Payload: payload, ExpiresAt: expires}
		if err := signing.CheckApproval(a, payoutIntent(), now); err != nil {
			if refused, ok := errors.AsType[*signing.ApprovalRefused](err); !ok || refused.ApprovalID != "apr_1" ||
				refused.Field == "" || refused.Reason == "" {
				t.Fatalf("refused by %v", err)
			}
			if text := err.Error(); len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q is no bounded line", text)
			}
			return
		}
		var got terms
		require.NoError(t, json.Unmarshal(payload, &got))
		want := payoutTerms()
		for _, free := range []string{"nonce", "amount", "expiresAt"} { // equal in value, perhaps not in spelling
			require.NotEmpty(t, got[free])
			delete(got, free)
			delete(want, free)
		}
		want["destination"] = map[string]any(want["destination"].(terms))
		require.Equal(t, want, got)
	})
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

func TestVerifierDecidesOnOpaquePayloads(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := signing.Approval{ID: "apr_1", Payload: []byte("\x01opaque"), ExpiresAt: expires}
	no := errors.New("not what I asked for")

	_, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now)
	_, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)

	_, err = signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return no }))
	require.ErrorIs(t, err, no)
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, a.ID, refused.ApprovalID)
	require.ErrorContains(t, err,
		`signing: approval "apr_1" refused: payload: your Verifier refused it: not what I asked for`)
	require.Empty(t, signer.signed)

	own := &signing.ApprovalRefused{ApprovalID: "apr_1", Field: "memo", Reason: "not mine"}
	_, err = signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return own }))
	require.Equal(t, own, err, "a refusal stays what it is")

	signature, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(_ context.Context, approval signing.Approval, intent signing.Intent) error {
			assert.Equal(t, a, approval)
			assert.Equal(t, payoutIntent(), intent)
			return nil
		}))
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), a.Payload, signature))
}

func TestNoVerifierIsTheDefault(t *testing.T) {
	a := signing.Approval{ID: "apr_1", Payload: []byte("\x01opaque"), ExpiresAt: expires}
	_, err := signing.SignApproval(t.Context(), newKey(t), a, payoutIntent(), now, signing.VerifyWith(nil))
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "payload", refused.Field)
}

func TestVerifiersDoNotExtendTheWindow(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	yes := signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return nil })
	for name, a := range map[string]signing.Approval{
		"closed":  {ID: "apr_1", Payload: []byte("opaque"), ExpiresAt: now},
		"no id":   {Payload: []byte("opaque"), ExpiresAt: expires},
		"nothing": {ID: "apr_1", ExpiresAt: expires},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now, yes)
			_, ok := errors.AsType[*signing.ApprovalRefused](err)
			require.True(t, ok, "%v", err)
		})
	}
	require.Empty(t, signer.signed)
}

func TestWhatWasCheckedIsWhatIsSigned(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := approvalOf(t, payoutTerms())
	original := slices.Clone(a.Payload)
	signature, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(_ context.Context, seen signing.Approval, _ signing.Intent) error {
			clear(seen.Payload) // a verifier's own copy
			clear(a.Payload)    // somebody else's, at the wrong moment
			return nil
		}))
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), original, signature))

	a = approvalOf(t, payoutTerms())
	_, err = signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(_ context.Context, seen signing.Approval, _ signing.Intent) error {
			clear(a.Payload)
			assert.Equal(t, original, seen.Payload, "what is judged is out of everybody's reach")
			return nil
		}))
	require.NoError(t, err)
}

func TestSignApprovalHonoursTheContext(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := approvalOf(t, payoutTerms())

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := signing.SignApproval(ended, signer, a, payoutIntent(), now)
	require.ErrorIs(t, err, context.Canceled)

	// It may also end while a verifier deliberates.
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	_, err = signing.SignApproval(ctx, signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { cancel(); return nil }))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, signer.signed)
}

func TestSignApprovalWithoutSigner(t *testing.T) {
	a := approvalOf(t, payoutTerms())
	for name, signer := range map[string]signing.Signer{
		"none": nil, "nil key": (*signing.DeveloperKey)(nil), "zero key": new(signing.DeveloperKey),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now)
			require.ErrorIs(t, err, signing.ErrNoKey)
		})
	}
}

// What was checked once can be signed later, without being checked again.
func TestPrepareApprovalDoesNotSign(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := approvalOf(t, payoutTerms())
	judged := 0
	checked, err := signing.PrepareApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { judged++; return nil }))
	require.NoError(t, err)
	require.Empty(t, signer.signed)

	original := slices.Clone(a.Payload)
	clear(a.Payload)
	signature, err := checked.Sign(t.Context())
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), original, signature))
	assert.Equal(t, 1, judged)

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = checked.Sign(canceled)
	requireNotSigned(t, err, context.Canceled)
	assert.Len(t, signer.signed, 1)
}

func TestCheckedApprovalPrintsNoSigner(t *testing.T) {
	checked, err := signing.PrepareApproval(t.Context(), telltale{newKey(t), "the-secret"},
		approvalOf(t, payoutTerms()), payoutIntent(), now)
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%+v %#v", *checked, *checked), "the-secret")
}

// telltale is a signer that keeps its secret where printing packages find it.
type telltale struct {
	signing.Signer
	secret string
}

// approvalUntil is an approval of an operation, with its intent, that ends at a time.
func approvalUntil(t require.TestingT, operation string, end time.Time) (signing.Approval, signing.Intent) {
	members, want := payoutTerms(), payoutIntent()
	members["operation"], want.Operation = operation, operation
	members["expiresAt"] = end.UTC().Format(time.RFC3339Nano)
	return signing.Approval{ID: "apr_1", Payload: canonical(t, members), ExpiresAt: end}, want
}

// Source: Limits, Lifetimes (120 seconds for payouts and transfers, 60 for escrow actions). 30 more are for clocks
// that differ.
func TestWindowIsNoLongerThanStated(t *testing.T) {
	key := newKey(t)
	anything := signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return nil })
	for operation, longest := range map[string]time.Duration{
		"payout.fund": 150 * time.Second, "escrow.approve": 90 * time.Second, "escrow.release": 90 * time.Second,
		"transfer.fund": 150 * time.Second, "escrowed.fund": 150 * time.Second,
	} {
		t.Run(operation, func(t *testing.T) {
			a, want := approvalUntil(t, operation, now.Add(longest))
			_, err := signing.SignApproval(t.Context(), key, a, want, now)
			require.NoError(t, err)

			for _, end := range []time.Time{
				now.Add(longest + time.Nanosecond), now.Add(24 * time.Hour),
				time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
			} {
				a, want := approvalUntil(t, operation, end)
				refused := requireRefused(t, key, a, want, "expiresAt")
				assert.False(t, refused.Expired, "time does not mend it")
				assert.Contains(t, refused.Reason, "longer")
				assert.Equal(t, refused.Want, "at most "+now.Add(longest).UTC().Format(time.RFC3339Nano))
				assert.Equal(t, end.UTC().Format(time.RFC3339Nano), refused.Got)

				_, err := signing.SignApproval(t.Context(), key, a, want, now, anything)
				require.ErrorAs(t, err, &refused, "a verifier does not extend it")
				_, err = signing.SignApproval(t.Context(), key, a, want, now, signing.AllowExpired())
				require.ErrorAs(t, err, &refused, "it is not over")
			}
		})
	}
}

func TestAllowExpiredKeepsAllOtherChecks(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a, want := approvalUntil(t, "payout.fund", now.Add(-time.Hour))
	_, err := signing.SignApproval(t.Context(), signer, a, want, now)
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	require.True(t, refused.Expired)

	signature, err := signing.SignApproval(t.Context(), signer, a, want, now, signing.AllowExpired())
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), a.Payload, signature))

	signer.signed = nil
	for field, change := range map[string]func(){
		"amount":     func() { want.Amount = want.Amount.Add(want.Amount) },
		"expiresAt":  func() { a.ExpiresAt = a.ExpiresAt.Add(time.Second) },
		"approvalId": func() { a.ID = "" },
		"payload":    func() { a.Payload = nil },
	} {
		t.Run(field, func(t *testing.T) {
			a, want = approvalUntil(t, "payout.fund", now.Add(-time.Hour))
			change()
			_, err := signing.SignApproval(t.Context(), signer, a, want, now, signing.AllowExpired())
			refused, ok := errors.AsType[*signing.ApprovalRefused](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, field, refused.Field)
			assert.Empty(t, signer.signed)
		})
	}
}
