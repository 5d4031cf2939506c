package cardproof_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

var (
	showThing   = transport.Operation{ID: "ShowThing", Method: http.MethodPost, Path: "/things/show"}
	readNothing = transport.Operation{ID: "ReadNothing", Method: http.MethodGet, Path: "/nothing"}
)

// holder is the wallet of a card, whose owner needs some time to agree.
type holder struct{ takes time.Duration }

func (holder) Address() string { return "0x1" }

func (h holder) SignMessage(ctx context.Context, message []byte) (string, error) {
	return "0x:" + string(message), transport.Pause(ctx, h.takes)
}

// proverFor makes proofs for a service whose clock is that far ahead. Its client has had one response.
func proverFor(t *testing.T, ahead time.Duration) *cardproof.Prover {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodGet, "https://service.example/v1/nothing",
		httpmock.NewStringResponder(http.StatusOK, `{}`).
			HeaderSet(http.Header{"Date": {time.Now().Add(ahead).UTC().Format(http.TimeFormat)}}))
	client, err := transport.New("https://service.example", "/v1",
		transport.Config{ClientSettings: moneymovement.ClientSettings{HTTPClient: &http.Client{Transport: mock}}})
	require.NoError(t, err)
	_, err = transport.Do[struct{}](t.Context(), client, transport.NewRequest(&readNothing, "", transport.Call{}))
	require.NoError(t, err)
	return &cardproof.Prover{Client: client}
}

// The service's clock counts, by its last response. Each second is used once.
func TestEachProofHasItsOwnSecond(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			prover := proverFor(t, ahead)
			now := time.Now().Add(ahead).Unix()
			for back := range int64(3) {
				proof, err := prover.Prove(t.Context(), &showThing, "card_1", holder{})
				require.NoError(t, err)
				assert.Equal(t, now-back, proof.Nonce)
				assert.Equal(t, fmt.Sprintf("0x:Reveal card card_1 at %d", now-back), proof.MessageSignature.Reveal())
			}
			proof, err := prover.Prove(t.Context(), &showThing, "card_1",
				model.WithCardMessage(holder{}, func(id string, _ int64) string { return "show " + id }))
			require.NoError(t, err)
			assert.Equal(t, "0x:show card_1", proof.MessageSignature.Reveal())
		})
	}
}

// The lifetime begins with the nonce, by the service's clock, and not with the signature.
func TestAProofThatComesTooLateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prover := proverFor(t, time.Hour)
		_, err := prover.Prove(t.Context(), &showThing, "card_1", holder{5*time.Minute - time.Second})
		require.NoError(t, err)
		_, err = prover.Prove(t.Context(), &showThing, "card_1", holder{5 * time.Minute})
		var input *errors.InvalidInput
		require.ErrorAs(t, err, &input)
		assert.Equal(t, "ShowThing", input.Operation)
		require.Len(t, input.Fields, 1)
		assert.Equal(t, "stale", input.Fields[0].Code)
	})
}

func TestNoProofWithoutASignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prover := proverFor(t, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		proof, err := prover.Prove(ctx, &showThing, "card_1", holder{time.Hour})
		var undelivered *errors.NotDelivered
		require.ErrorAs(t, err, &undelivered)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, proof)
	})
}
