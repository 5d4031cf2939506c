package vectors_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func TestNothingIsSignedWithoutAContext(t *testing.T) {
	var none context.Context
	developerKey, err := signing.Generate()
	require.NoError(t, err)
	walletKey, err := wallet.Generate()
	require.NoError(t, err)
	card := new(testkit.Wallet)
	sign := map[string]func() error{
		"a card's details": func() error {
			_, err := model.SignCardDetails(none, card, "card", time.Unix(1, 0))
			return err
		},
		"a login": func() error {
			_, err := signing.SignChallenge(none, developerKey, signing.Challenge{ID: "ch"}, nil)
			return err
		},
		"an approval": func() error {
			_, err := signing.SignApproval(none, developerKey, signing.Approval{}, signing.Intent{}, time.Unix(1, 0))
			return err
		},
		"with a developer key": func() error { _, err := developerKey.Sign(none, nil); return err },
		"with a wallet key":    func() error { _, err := walletKey.Sign(none, nil); return err },
		"a wallet's message":   func() error { _, err := walletKey.SignMessage(none, nil); return err },
	}
	for name, of := range sign {
		t.Run(name, func(t *testing.T) { testkit.NoContext(t, of()) })
	}
	assert.False(t, card.Asked)
	t.Run("a zero key", func(t *testing.T) {
		_, err := new(signing.DeveloperKey).Sign(t.Context(), nil)
		require.ErrorIs(t, err, signing.ErrNoKey)
		_, err = new(wallet.Key).Sign(t.Context(), nil)
		require.ErrorIs(t, err, signing.ErrNoKey)
	})
}
