package signing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

// An address that is wanted lets no other through, of whatever kind either is.
func TestAnotherAddressIsRefused(t *testing.T) {
	const (
		evm     = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
		another = "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"
	)
	key := newKey(t)
	for _, tc := range []struct{ got, wanted string }{
		{another, evm}, {evm, "So1anaAddre55"}, {"So1anaAddre55", evm}, {"So1anaAddre55", "So1anaAddre56"},
		{evm[:41] + "5", evm},
		{"0X" + evm[2:], evm}, {evm, "0X" + evm[2:]},
	} {
		members, want := payoutTerms(), payoutIntent()
		onChain(tc.got, "base", tc.wanted, "base")(members, &want)
		refused := requireRefused(t, key, approvalOf(t, members), want, "destination.address")
		assert.Equal(t, tc.got, refused.Got)
		assert.Equal(t, tc.wanted, refused.Want)
	}
}

// A number that cannot be a chain id is refused, even if the caller asked for it.
func TestChainIDsAreWholeNumbers(t *testing.T) {
	key := newKey(t)
	const address = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
	for text, number := range map[string]any{"1.5": 1.5, "-1": -1, "0": 0, "10000000000000000": 1e16, "1e+21": 1e21} {
		members, want := payoutTerms(), payoutIntent()
		onChain(address, number, address, text)(members, &want)
		refused := requireRefused(t, key, approvalOf(t, members), want, "destination.chainId")
		assert.Contains(t, refused.Reason, "a positive integer")
	}
	members, want := payoutTerms(), payoutIntent()
	onChain(address, int64(9007199254740991), address, "9007199254740991")(members, &want)
	require.NoError(t, signing.CheckApproval(approvalOf(t, members), want, now))
}

// What cannot be read is told from what is not what was asked for.
func TestMembersOfAnotherFormAreRefused(t *testing.T) {
	key := newKey(t)
	for _, tc := range []struct{ field, value, reason string }{
		{"amount", "2.55e1", "a decimal string"}, {"amount", "-25.5", "a decimal string"},
		{"amount", "26", "differs from what was asked for"},
		{"expiresAt", "tomorrow", "an RFC 3339 time"},
		{"expiresAt", "2026-03-01T12:03:00Z", "differs from the end of the approval"},
	} {
		members := payoutTerms()
		members[tc.field] = tc.value
		refused := requireRefused(t, key, approvalOf(t, members), payoutIntent(), tc.field)
		assert.Contains(t, refused.Reason, tc.reason, tc.value)
	}
}

// An exponent is bounded on both sides, so that comparing an amount costs little. So are the digits, which are quoted.
func TestExponentsOfAnIntentAreBounded(t *testing.T) {
	key := newKey(t)
	for exponent, reason := range map[int32]string{
		80: "differs from what was asked for", -80: "differs from what was asked for", 81: "out of range",
		-81: "out of range",
	} {
		want := payoutIntent()
		want.Amount = decimal.New(1, exponent)
		refused := requireRefused(t, key, approvalOf(t, payoutTerms()), want, "amount")
		assert.Contains(t, refused.Reason, reason, "10^%d", exponent)
	}
	want := payoutIntent()
	want.Amount = decimal.RequireFromString(strings.Repeat("9", 161))
	refused := requireRefused(t, key, approvalOf(t, payoutTerms()), want, "amount")
	assert.Contains(t, refused.Reason, "out of range")
}

func TestQuotedPayloadTextIsBounded(t *testing.T) {
	key := newKey(t)
	for account, quoted := range map[string]string{
		strings.Repeat("x", 80): `"` + strings.Repeat("x", 80) + `"`,
		strings.Repeat("x", 81): `"` + strings.Repeat("x", 80) + `"…`,
	} {
		members := payoutTerms()
		members["account"] = account
		refused := requireRefused(t, key, approvalOf(t, members), payoutIntent(), "account")
		assert.ErrorContains(t, refused, "(got "+quoted+", want ")
	}
	members := payoutTerms()
	members["destination"] = terms{"contactId": "ct_9", "address": "0x00"}
	refused := requireRefused(t, key, approvalOf(t, members), payoutIntent(), "destination.address")
	assert.ErrorContains(t, refused, `(got "0x00", want "")`, "also where one side says nothing")
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
		"an end that is not a time": {set("expiresAt", "tomorrow"), "expiresAt"},
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
	assert.Contains(t, refused.Reason, "it has 16385 bytes, which is too long")
}
