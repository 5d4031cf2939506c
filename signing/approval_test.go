package signing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
