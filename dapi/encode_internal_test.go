package dapi

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/wire"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// A request that is sent often has an encoder of its own. It writes what the general one writes.
func TestTheEncodersWriteTheSameBytes(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", `"\/` + "\n\x7f", "Γειά", "\u2028<&>",
		"\xff", "a\xed\xa0\x80"}))
	bytesOrNil := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOf(rapid.Byte()))
	rapid.Check(t, func(t *rapid.T) {
		same := func(body any, encode func(*wire.Writer)) {
			want, err := wire.Marshal(body)
			got, ok := wire.Write(encode)
			require.Equal(t, err == nil, ok)
			if ok {
				require.Equal(t, string(want), string(got))
			}
		}
		create := &PayoutCreate{
			Amount:    decimal.New(rapid.Int64().Draw(t, "coefficient"), rapid.Int32Range(-30, 30).Draw(t, "exponent")),
			ContactID: ContactID(texts.Draw(t, "contact")), Currency: Asset(texts.Draw(t, "currency")),
			DocumentIDs: rapid.SliceOf(texts).Draw(t, "documents"), Purpose: texts.Draw(t, "purpose"),
			PaymentReference: texts.Draw(t, "reference"),
			FromChainID:      ChainID(rapid.Int64().Draw(t, "from")),
			ToChainID:        ChainID(rapid.Int64Range(0, 1).Draw(t, "to")),
		}
		same(create, create.encode)
		confirm := &approvalConfirm{ApprovalID: texts.Draw(t, "approval"),
			PublicKey: bytesOrNil.Draw(t, "key"), Signature: bytesOrNil.Draw(t, "signature")}
		same(confirm, confirm.encode)
	})
	for want, encode := range map[string]func(*wire.Writer){
		`{"contactId":""}`: new(PayoutCreate).encode, `{}`: new(approvalConfirm).encode,
	} {
		got, ok := wire.Write(encode)
		require.True(t, ok)
		require.Equal(t, want, string(got))
	}
}

// readInOnePass lists responses whose Go types reflect can compare. A type with a secret is not one of them.
var readInOnePass = []struct {
	operation string
	answer    *wire.Response
	value     func() any
}{
	{"dapi.GetPayout", &responseGetPayout, func() any { return new(Payout) }},
	{"dapi.ListTransactions", &responseListTransactions, func() any { return new(TransactionPage) }},
	{"dapi.CreateContact", &responseCreateContact, func() any { return new(Contact) }},
	{"dapi.GetContactCapabilities", &responseGetContactCapabilities, func() any { return new(ContactCapabilities) }},
	{"dapi.CreateClient", &responseCreateClient, func() any { return new(Client) }},
	{"dapi.CreatePayin", &responseCreatePayin, func() any { return new(Payin) }},
	{"dapi.CreateEscrow", &responseCreateEscrow, func() any { return new(Escrow) }},
	{"dapi.ListRails", &responseListRails, func() any { return new(RailPage) }},
	{"dapi.ListChains", &responseListChains, func() any { return new(ChainPage) }},
	{"dapi.GetKYB", &responseGetKYB, func() any { return new(KYB) }},
	{"dapi.CreateChallenge", &responseCreateChallenge, func() any { return new(challenge) }},
}

// FuzzReadInOnePass reads a response in one pass, and also member by member against its shape. Both find the same. The
// second way reads every response, but is slow.
func FuzzReadInOnePass(f *testing.F) {
	for i, a := range readInOnePass {
		body, err := recorded.Body(a.operation, time.Unix(1_800_000_000, 0))
		require.NoError(f, err, a.operation)
		f.Add(uint8(i), body)
	}
	var r wire.Reader
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		a := readInOnePass[int(which)%len(readInOnePass)]
		read, bent := a.value(), a.value()
		unread, err := a.answer.Decode(&r, body, read)
		byShape := wire.Response{Shape: &wire.Shape{Kind: a.answer.Shape.Kind, Members: a.answer.Shape.Members}}
		bentUnread, bentErr := byShape.Decode(&r, body, bent)
		if bentErr != nil {
			require.EqualError(t, err, bentErr.Error(), "%s", body)
			return
		}
		require.NoError(t, err, "%s", body)
		require.Equal(t, bentUnread, unread, "%s", body)
		require.Equal(t, bent, read, "%s", body)
	})
}
