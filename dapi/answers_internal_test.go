package dapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/wire"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// readInOnePass lists responses whose Go types reflect can compare. A type with a secret is not one of them.
var readInOnePass = []struct {
	operation string
	answer    *wire.Answer
	value     func() any
}{
	{"dapi.GetPayout", &answerGetPayout, func() any { return new(Payout) }},
	{"dapi.ListTransactions", &answerListTransactions, func() any { return new(TransactionPage) }},
	{"dapi.CreateContact", &answerCreateContact, func() any { return new(Contact) }},
	{"dapi.GetContactCapabilities", &answerGetContactCapabilities, func() any { return new(ContactCapabilities) }},
	{"dapi.CreateClient", &answerCreateClient, func() any { return new(Client) }},
	{"dapi.CreatePayin", &answerCreatePayin, func() any { return new(Payin) }},
	{"dapi.CreateEscrow", &answerCreateEscrow, func() any { return new(Escrow) }},
	{"dapi.ListRails", &answerListRails, func() any { return new(RailPage) }},
	{"dapi.ListChains", &answerListChains, func() any { return new(ChainPage) }},
	{"dapi.GetKYB", &answerGetKYB, func() any { return new(KYB) }},
	{"dapi.CreateChallenge", &answerCreateChallenge, func() any { return new(challenge) }},
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
		byShape := wire.Answer{Shape: &wire.Shape{Kind: a.answer.Shape.Kind, Members: a.answer.Shape.Members}}
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
