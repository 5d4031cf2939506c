package dapi

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/wire"
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
