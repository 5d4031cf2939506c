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

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
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
	value := jsonv2.Value(data)
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

func onChain(address string, chain any, wantAddress, wantChain string) func(terms, *signing.Intent) {
	return func(members terms, want *signing.Intent) {
		members["destination"] = terms{"address": address, "chainId": chain}
		want.Destination = signing.Destination{Address: wantAddress, ChainID: wantChain}
	}
}

// A chain has two names, and the payload may say either if the caller knows both. Two of one kind are two chains.
func TestNamesOfAChain(t *testing.T) {
	key := newKey(t)
	for name, tc := range map[string]struct {
		got         any
		want, alias string
		same        bool
	}{
		"its EVM id":                           {42161, "42161", "arbitrum", true},
		"its EVM id as a string":               {"42161", "42161", "arbitrum", true},
		"its code":                             {"arbitrum", "42161", "arbitrum", true},
		"its code, asked by code":              {"arbitrum", "arbitrum", "42161", true},
		"its EVM id, asked by code":            {42161, "arbitrum", "42161", true},
		"its code, and nobody knows that":      {"arbitrum", "42161", "", false},
		"another's code":                       {"base", "42161", "arbitrum", false},
		"another's EVM id":                     {8453, "42161", "arbitrum", false},
		"another EVM id for the other name":    {8453, "42161", "8453", false},
		"another code for the other name":      {"base", "arbitrum", "base", false},
		"none":                                 {nil, "42161", "arbitrum", false},
		"the other name of none":               {"arbitrum", "", "arbitrum", false},
		"an EVM id for none":                   {42161, "", "42161", false},
		"none, and no other name":              {nil, "42161", "", false},
		"the other name in other letters":      {"Arbitrum", "42161", "arbitrum", false},
		"an EVM id with a zero in front of it": {"042161", "arbitrum", "42161", false},
	} {
		t.Run(name, func(t *testing.T) {
			members, want := payoutTerms(), payoutIntent()
			destination := terms{"contactId": want.Destination.ContactID}
			if tc.got != nil {
				destination["chainId"] = tc.got
			}
			members["destination"] = destination
			want.Destination.ChainID, want.Destination.ChainAlias = tc.want, tc.alias
			a := approvalOf(t, members)
			if tc.same {
				require.NoError(t, signing.CheckApproval(a, want, now))
				return
			}
			requireRefused(t, key, a, want, "destination.chainId")
		})
	}
}

func TestCheckApprovalRefusesPayloads(t *testing.T) {
	key := newKey(t)
	set := func(name string, value any) func(terms) { return func(members terms) { members[name] = value } }
	destination := func(value any) func(terms) { return set("destination", value) }
	type refusal struct {
		change func(terms)
		field  string
	}
	cases := map[string]refusal{
		"another approval":           {set("approvalId", "apr_2"), "approvalId"},
		"another operation":          {set("operation", "escrow.release"), "operation"},
		"another resource":           {set("resourceId", "po_8"), "resourceId"},
		"another account":            {set("account", "self"), "account"},
		"a larger amount":            {set("amount", "255"), "amount"},
		"a slightly larger amount":   {set("amount", "25.500000000000000001"), "amount"},
		"an amount with an exponent": {set("amount", "2.55e1"), "amount"},
		"an enormous exponent":       {set("amount", "1e999999999"), "amount"},
		"a negative amount":          {set("amount", "-25.5"), "amount"},
		"an amount as a number":      {set("amount", 25.5), "amount"},
		"an amount that is endless":  {set("amount", strings.Repeat("1", 41)), "amount"},
		"another currency":           {set("currency", "EURC"), "currency"},
		"a currency in other case":   {set("currency", "usdc"), "currency"},
		"another contact":            {destination(terms{"contactId": "ct_8"}), "destination.contactId"},
		"an address for a contact":   {destination(terms{"address": "0x00"}), "destination.contactId"},
		"an address besides": {destination(terms{"contactId": "ct_9", "address": "0x00"}),
			"destination.address"},
		"a chain besides":           {destination(terms{"contactId": "ct_9", "chainId": 1}), "destination.chainId"},
		"a destination without any": {destination(terms{}), "destination.contactId"},
		"an unknown destination":    {destination(terms{"contactId": "ct_9", "iban": "X"}), "destination.iban"},
		"an empty contact":          {destination(terms{"contactId": ""}), "destination.contactId"},
		"a null contact":            {destination(terms{"contactId": nil}), "destination.contactId"},
		"a fractional chain":        {destination(terms{"contactId": "ct_9", "chainId": 1.5}), "destination.chainId"},
		"a negative chain":          {destination(terms{"contactId": "ct_9", "chainId": -1}), "destination.chainId"},
		"a text for a destination":  {destination("ct_9"), "destination"},
		"a null destination":        {destination(nil), "destination"},
		"a list of destinations":    {destination([]any{terms{"contactId": "ct_9"}}), "destination"},
		"a later end":               {set("expiresAt", "2026-03-01T12:03:00Z"), "expiresAt"},
		"an end that is no time":    {set("expiresAt", "tomorrow"), "expiresAt"},
		"an end as a number":        {set("expiresAt", expires.Unix()), "expiresAt"},
		"an empty nonce":            {set("nonce", ""), "nonce"},
		"a nonce as a number":       {set("nonce", 1), "nonce"},
		"an unknown member":         {set("memo", "and more"), "memo"},
		"a member in other case":    {set("Amount", "1"), "Amount"},
	}
	for name := range payoutTerms() {
		cases["without "+name] = refusal{func(members terms) { delete(members, name) }, name}
		cases["null "+name] = refusal{set(name, nil), name}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			members := payoutTerms()
			tc.change(members)
			refused := requireRefused(t, key, approvalOf(t, members), payoutIntent(), tc.field)
			assert.Equal(t, strings.HasPrefix(name, "without "), strings.Contains(refused.Reason, "missing"),
				refused.Reason)
		})
	}
}

func TestCheckApprovalRefusesPayloadsThatAreNotCanonical(t *testing.T) {
	key := newKey(t)
	good := string(canonical(t, payoutTerms()))
	for name, payload := range map[string]string{
		"empty":               "",
		"opaque":              "\x00\x01\x02\x03",
		"a list":              "[" + good + "]",
		"a text":              `"payload"`,
		"white space":         " " + good,
		"a line end":          good + "\n",
		"two documents":       good + good,
		"members in disorder": `{"resourceId":"po_7",` + strings.Replace(good[1:], `"resourceId":"po_7",`, "", 1),
		"a needless escape":   strings.Replace(good, "USDC", `\u0055SDC`, 1),
		"a duplicate":         strings.Replace(good, `"amount":"25.5"`, `"amount":"25.5","amount":"99"`, 1),
		"the same twice":      strings.Replace(good, `"amount":"25.5"`, `"amount":"25.5","amount":"25.5"`, 1),
		"invalid UTF-8":       strings.Replace(good, "USDC", "US\xffC", 1),
		"a byte order mark":   "\ufeff" + good,
		"far too much":        strings.Replace(good, "0f1e", strings.Repeat("0", 20_000), 1),
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, good, payload)
			a := signing.Approval{ID: "apr_1", Payload: []byte(payload), ExpiresAt: expires}
			requireRefused(t, key, a, payoutIntent(), "payload")
		})
	}
}

func TestCheckApprovalRefusesIntentsThatLeaveSomethingOpen(t *testing.T) {
	key := newKey(t)
	a := approvalOf(t, payoutTerms())
	for name, tc := range map[string]struct {
		change func(*signing.Intent)
		field  string
	}{
		"everything":      {func(want *signing.Intent) { *want = signing.Intent{} }, "operation"},
		"operation":       {func(want *signing.Intent) { want.Operation = "" }, "operation"},
		"resource":        {func(want *signing.Intent) { want.ResourceID = "" }, "resourceId"},
		"account":         {func(want *signing.Intent) { want.Account = "" }, "account"},
		"amount":          {func(want *signing.Intent) { want.Amount = decimal.Decimal{} }, "amount"},
		"negative amount": {func(want *signing.Intent) { want.Amount = want.Amount.Neg() }, "amount"},
		"enormous amount": {func(want *signing.Intent) { want.Amount = decimal.New(1, 1<<30) }, "amount"},
		"infinitesimal":   {func(want *signing.Intent) { want.Amount = decimal.New(1, -1<<30) }, "amount"},
		"currency":        {func(want *signing.Intent) { want.Currency = "" }, "currency"},
		"destination":     {func(want *signing.Intent) { want.Destination = signing.Destination{} }, "destination"},
		"nothing but a chain": {func(want *signing.Intent) {
			want.Destination = signing.Destination{ChainID: "base"}
		}, "destination"},
	} {
		t.Run(name, func(t *testing.T) {
			want := payoutIntent()
			tc.change(&want)
			refused := requireRefused(t, key, a, want, tc.field)
			assert.Contains(t, refused.Reason, "the intent", "which is what is to be mended")
		})
	}
}

// The letter case of an EVM address is a checksum. That of any other address is part of it.
func TestTheCaseOfAnAddressThatIsNoEVMAddress(t *testing.T) {
	const address = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
	for _, other := range []string{"So1anaAddre55", address[:41], address + "0", "x" + address[1:], address + "\n",
		address[:41] + "G"} {
		members, want := payoutTerms(), payoutIntent()
		onChain(strings.ToUpper(other), "any", other, "any")(members, &want)
		requireRefused(t, newKey(t), approvalOf(t, members), want, "destination.address")
	}
}

func TestCheckApprovalRefusesEnvelopes(t *testing.T) {
	key := newKey(t)
	for name, tc := range map[string]struct {
		change func(*signing.Approval)
		field  string
	}{
		"no id":              {func(a *signing.Approval) { a.ID = "" }, "approvalId"},
		"another id":         {func(a *signing.Approval) { a.ID = "apr_2" }, "approvalId"},
		"no end":             {func(a *signing.Approval) { a.ExpiresAt = time.Time{} }, "expiresAt"},
		"an end now":         {func(a *signing.Approval) { a.ExpiresAt = now }, "expiresAt"},
		"another end":        {func(a *signing.Approval) { a.ExpiresAt = expires.Add(time.Nanosecond) }, "expiresAt"},
		"an end in the past": {func(a *signing.Approval) { a.ExpiresAt = now.Add(-time.Hour) }, "expiresAt"},
	} {
		t.Run(name, func(t *testing.T) {
			a := approvalOf(t, payoutTerms())
			tc.change(&a)
			requireRefused(t, key, a, payoutIntent(), tc.field)
		})
	}
}

// A payload may have 16 KiB.
func TestPayloadsAreBounded(t *testing.T) {
	members := payoutTerms()
	members["nonce"] = ""
	room := 16<<10 - len(canonical(t, members))
	members["nonce"] = strings.Repeat("0", room)
	require.NoError(t, signing.CheckApproval(approvalOf(t, members), payoutIntent(), now))
	members["nonce"] = strings.Repeat("0", room+1)
	refused := requireRefused(t, newKey(t), approvalOf(t, members), payoutIntent(), "payload")
	assert.Contains(t, refused.Reason, "16385 bytes are too many")
}

func TestApprovalRefusedSaysWhatDiffers(t *testing.T) {
	members := payoutTerms()
	members["amount"] = "26"
	refused := requireRefused(t, newKey(t), approvalOf(t, members), payoutIntent(), "amount")
	assert.Equal(t, "25.5", refused.Want)
	assert.Equal(t, "26", refused.Got)
	assert.EqualError(t, refused,
		`signing: approval "apr_1" refused: amount: it is not what was asked for (got "26", want "25.5")`)
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
