package model_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func TestACardIsProvedByItsWallet(t *testing.T) {
	key, err := wallet.Generate()
	require.NoError(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 999, time.FixedZone("east", 3600))
	for name, c := range map[string]struct {
		signer  model.CardSigner
		message string
	}{
		"the usual message": {key, fmt.Sprintf("Reveal card card_1 at %d", at.Unix())},
		"another message": {model.WithCardMessage(key, func(id string, nonce int64) string {
			return fmt.Sprintf("%s:%d", id, nonce)
		}), fmt.Sprintf("card_1:%d", at.Unix())},
	} {
		proof, err := model.SignCardDetails(t.Context(), c.signer, "card_1", at)
		require.NoError(t, err, name)
		assert.Equal(t, at.Unix(), proof.Nonce, name)
		signer, err := wallet.RecoverAddress([]byte(c.message), proof.MessageSignature.Reveal())
		require.NoError(t, err, name)
		assert.Equal(t, key.Address(), signer, name)
	}
}
