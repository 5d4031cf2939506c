package refapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

const detailsJSON = `{"cardNumber":"4000000000000002","cvv":"123","expiryDate":"12/29"}`

// cardService reveals details to the wallet of its card, as the description and the assumed message say.
type cardService struct {
	wallet string
	now    func() time.Time
	nonces []int64
}

func (s *cardService) answer(r *http.Request) (*http.Response, error) {
	var proof model.CardDetailsProof
	if err := json.NewDecoder(r.Body).Decode(&proof); err != nil {
		return nil, err
	}
	s.nonces = append(s.nonces, proof.Nonce)
	signer, err := wallet.RecoverAddress(fmt.Appendf(nil, "Reveal card card-1 at %d", proof.Nonce),
		proof.MessageSignature.Reveal())
	age := s.now().Sub(time.Unix(proof.Nonce, 0))
	answered := answer(http.StatusOK, detailsJSON)
	if err != nil || signer != s.wallet || age < 0 || age > 5*time.Minute {
		answered = answer(http.StatusForbidden, `{"error":{"code":"forbidden","message":"not the card's holder"}}`)
	}
	answered.Header.Set("Date", s.now().UTC().Format(http.TimeFormat))
	return answered, nil
}

// slow is a wallet that asks a person first.
type slow struct {
	*wallet.Key
	takes time.Duration
}

func (s slow) SignMessage(ctx context.Context, message []byte) (string, error) {
	select {
	case <-time.After(s.takes):
		return s.Key.SignMessage(ctx, message)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func newKey(t *testing.T) *wallet.Key {
	t.Helper()
	key, err := wallet.Generate()
	require.NoError(t, err)
	return key
}

func TestTheHolderOfTheWalletSeesTheDetails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: time.Now}
		client := newClient(t, service.answer)

		var answered moneymovement.Response
		details, err := client.Cards.Details(t.Context(), "card-1", slow{key, 4 * time.Minute},
			moneymovement.CaptureResponse(&answered))
		require.NoError(t, err)
		assert.Equal(t, "4000000000000002", details.CardNumber.Reveal())
		assert.Equal(t, "123", details.CVV.Reveal())
		assert.Equal(t, "12/29", details.ExpiryDate.Reveal())
		assert.Equal(t, http.StatusOK, answered.Status)
		assert.Nil(t, answered.Body, "it holds the number")
		assert.Equal(t, []int64{time.Now().Add(-4 * time.Minute).Unix()}, service.nonces)
	})
}

func TestTheBodyWithSecretsIsKeptWhenAskedFor(t *testing.T) {
	key := newKey(t)
	service := &cardService{wallet: key.Address(), now: time.Now}
	var plain, whole moneymovement.Response
	_, err := newClient(t, service.answer).Cards.Details(t.Context(), "card-1", key,
		moneymovement.CaptureResponseWithSecrets(&whole), moneymovement.CaptureResponse(&plain))
	require.NoError(t, err)
	assert.Contains(t, string(whole.Body), "4000000000000002")
	assert.Nil(t, plain.Body)
	assert.Equal(t, http.StatusOK, plain.Status)
}

func TestAnotherWalletIsRefused(t *testing.T) {
	service := &cardService{wallet: newKey(t).Address(), now: time.Now}
	_, err := newClient(t, service.answer).Cards.Details(t.Context(), "card-1", newKey(t))
	var forbidden *errors.Forbidden
	require.ErrorAs(t, err, &forbidden)
	assert.Equal(t, "RevealCardDetails", forbidden.Operation)
	assert.Len(t, service.nonces, 1)
}

func TestAStaleNonceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: time.Now}
		client := newClient(t, service.answer)

		proof, err := model.SignCardDetails(t.Context(), key, "card-1", time.Now().Add(-301*time.Second))
		require.NoError(t, err)
		_, err = client.Cards.DetailsWithProof(t.Context(), "card-1", proof)
		require.True(t, is[*errors.Forbidden](err), "%v", err)

		// One that grew stale while it was signed is not even sent.
		_, err = client.Cards.Details(t.Context(), "card-1", slow{key, 5 * time.Minute})
		var invalid *errors.InvalidInput
		require.ErrorAs(t, err, &invalid)
		assert.Equal(t, "nonce", invalid.Fields[0].Field)
		assert.Equal(t, "stale", invalid.Fields[0].Code)
		assert.Len(t, service.nonces, 1)
	})
}

// TestTheNonceIsTheServicesTime: a machine whose clock is an hour off would otherwise never see a card.
func TestTheNonceIsTheServicesTime(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: func() time.Time { return time.Now().Add(off) }}
		client := newClient(t, service.answer)
		_, err := client.Cards.Details(t.Context(), "card-1", key)
		require.True(t, is[*errors.Forbidden](err), "before the first answer, the machine's clock is all there is: %v",
			err)
		_, err = client.Cards.Details(t.Context(), "card-1", key)
		require.NoError(t, err, off)
	}
}

// TestEachRevealHasANonceOfItsOwn: also within one second, for the service need not take one twice.
func TestEachRevealHasANonceOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: func() time.Time {
			return time.Now().Add(10 * time.Second)
		}}
		client := newClient(t, service.answer)
		for range 5 {
			_, err := client.Cards.Details(t.Context(), "card-1", key)
			require.NoError(t, err)
		}
		slices.Sort(service.nonces)
		assert.Len(t, slices.Compact(service.nonces), 5)
	})
}

func TestTheMessageIsAnOption(t *testing.T) {
	key := newKey(t)
	var signature string
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		var proof model.CardDetailsProof
		if err := json.NewDecoder(r.Body).Decode(&proof); err != nil {
			return nil, err
		}
		signature = proof.MessageSignature.Reveal()
		return answer(http.StatusOK, detailsJSON), nil
	})
	_, err := client.Cards.Details(t.Context(), "card-1",
		model.WithCardMessage(key, func(id string, _ int64) string { return "show me " + id }))
	require.NoError(t, err)
	signer, err := wallet.RecoverAddress([]byte("show me card-1"), signature)
	require.NoError(t, err)
	assert.Equal(t, key.Address(), signer)
}

func TestAWalletThatDoesNotSignSendsNothing(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return answer(http.StatusOK, detailsJSON), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Cards.Details(ctx, "card-1", slow{newKey(t), time.Hour})
	require.True(t, is[*errors.NotDelivered](err), "%v", err)
	require.ErrorIs(t, err, context.Canceled)

	for card, signer := range map[string]model.CardSigner{"card-1": nil, "card-2": &wallet.Key{}, "a\nb": newKey(t),
		"": newKey(t)} {
		_, err = client.Cards.Details(t.Context(), card, signer)
		assert.True(t, is[*errors.InvalidInput](err), "%q %v", card, err)
	}
}

func TestWhatIsRevealedDoesNotPrint(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		return answer(http.StatusOK, detailsJSON), nil
	})
	details, err := client.Cards.Details(t.Context(), "card-1", newKey(t))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		assert.NotContains(t, fmt.Sprintf(verb, details), "40000000", verb)
		assert.NotContains(t, fmt.Sprintf(verb, *details), "123", verb)
	}
}

const baseURL = "https://service.example"

// newClient is a client whose requests are answered by respond.
func newClient(t *testing.T, respond testkit.Connection) *refapi.Client {
	t.Helper()
	client, err := refapi.New(baseURL, refapi.Credential{AccessToken: refapi.NewAccessToken("token-1")},
		moneymovement.WithHTTPClient(&http.Client{Transport: respond}))
	require.NoError(t, err)
	return client
}

func answer(status int, body string) *http.Response {
	answered, _ := testkit.Page(status, "application/json", body)(nil) // it never fails
	return answered
}
