package signing_test

import (
	"strings"
	"testing"

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
func TestMembersOfAnotherFormSayWhichIsWanted(t *testing.T) {
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

func TestWhatIsQuotedOfAPayload(t *testing.T) {
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
