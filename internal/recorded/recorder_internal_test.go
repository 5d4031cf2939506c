package recorded

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/signing"
)

func TestARecorderStandsInForTheRecording(t *testing.T) {
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	mux := http.NewServeMux()
	recorder := httptest.NewServer(mux)
	defer recorder.Close()
	mux.HandleFunc("POST /start", func(w http.ResponseWriter, r *http.Request) {
		var asked Start
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		assert.Equal(t, Start{Example: "dapi/ExampleOne", Email: "ops@example.com", PublicKey: key.PublicKey()}, asked)
		assert.NoError(t,
			codec.MarshalWrite(w, Started{URL: recorder.URL, APIKey: "ak_1", AccessToken: "uat_1", Wallet: "0x1"}))
	})
	var advanced []string
	mux.HandleFunc("POST "+ControlPath+"/advance", func(_ http.ResponseWriter, r *http.Request) {
		var asked Advance
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		advanced = append(advanced, asked.By)
	})
	mux.HandleFunc("POST "+ControlPath+"/sign", func(w http.ResponseWriter, r *http.Request) {
		var asked Sign
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		assert.NoError(t, codec.MarshalWrite(w, Signed{Signature: "signed " + string(asked.Message)}))
	})

	server := serveHost(recorder.URL, "dapi/ExampleOne", key)
	defer server.Close()
	assert.Equal(t, recorder.URL, server.URL)
	assert.Equal(t, []string{"ops@example.com", "ak_1", "uat_1", "0x1"},
		[]string{server.Email, server.APIKey, server.AccessToken, server.Wallet.Address()})
	assert.Same(t, key, server.Key)
	server.Advance(90 * time.Second)
	assert.Equal(t, []string{"1m30s"}, advanced)
	signature, err := server.Wallet.SignMessage(t.Context(), []byte("a message"))
	require.NoError(t, err)
	assert.Equal(t, "signed a message", signature)
}

func TestARecorderThatFailsFailsTheExample(t *testing.T) {
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	recorder := httptest.NewServer(http.NotFoundHandler())
	assert.Panics(t, func() { serveHost(recorder.URL, "dapi/ExampleOne", key) })
	recorder.Close()
	assert.Panics(t, func() { serveHost(recorder.URL, "dapi/ExampleOne", key) })
}

func TestAWalletOfARecordingHasTheFormOfOne(t *testing.T) {
	w := noWallet()
	assert.Regexp(t, "^0x[0-9a-f]{40}$", w.Address())
	signature, err := w.SignMessage(t.Context(), []byte("a message"))
	require.NoError(t, err)
	assert.Regexp(t, "^0x[0-9a-f]{130}$", signature)
}
