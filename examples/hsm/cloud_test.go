//go:build cloud

package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.step.sm/crypto/kms/apiv1"
)

// awsKey stands for AWS KMS, as far as its description of GetPublicKey and Sign goes: the real client asks it over
// HTTP.
type awsKey struct {
	*testing.T
	key                    crypto.Signer
	algorithm, messageType string // that Sign must ask for
	signed                 int
}

func (k *awsKey) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		KeyID                         string `json:"KeyId"`
		SigningAlgorithm, MessageType string
		Message                       []byte
	}
	assert.NoError(k, json.NewDecoder(r.Body).Decode(&asked))
	assert.Equal(k, "0a1b", asked.KeyID)
	answer := map[string]any{"KeyId": asked.KeyID}
	switch r.Header.Get("X-Amz-Target") {
	case "TrentService.GetPublicKey":
		der, err := x509.MarshalPKIXPublicKey(k.key.Public())
		assert.NoError(k, err)
		answer["PublicKey"], answer["KeyUsage"] = der, "SIGN_VERIFY"
	case "TrentService.Sign":
		k.signed++
		assert.Equal(k, k.algorithm, asked.SigningAlgorithm)
		assert.Equal(k, k.messageType, asked.MessageType)
		hash := crypto.Hash(0)
		if k.messageType == "DIGEST" {
			hash = crypto.SHA256
			assert.Len(k, asked.Message, hash.Size())
		}
		signature, err := k.key.Sign(rand.Reader, asked.Message, hash)
		assert.NoError(k, err)
		answer["Signature"] = signature
	default:
		assert.Fail(k, r.Header.Get("X-Amz-Target"))
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(answer)
}

// Each kind of key that AWS KMS and the service share logs in and pays. The client asks for a digest to be signed, and
// for a message with Ed25519.
func TestPaysWithKeysOfAWS(t *testing.T) {
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	modulus, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for _, aws := range []*awsKey{
		{T: t, key: p256, algorithm: "ECDSA_SHA_256", messageType: "DIGEST"},
		{T: t, key: edwards, algorithm: "ED25519_SHA_512", messageType: "RAW"},
		{T: t, key: modulus, algorithm: "RSASSA_PKCS1_V1_5_SHA_256", messageType: "DIGEST"},
	} {
		server := httptest.NewServer(aws)
		t.Setenv("AWS_ENDPOINT_URL_KMS", server.URL)
		t.Setenv("AWS_ACCESS_KEY_ID", "example")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "example")
		var out bytes.Buffer
		err := run(t.Context(), []string{"-key", "awskms:region=eu-central-1;key-id=0a1b"}, &out)
		server.Close()
		require.NoError(t, err, aws.algorithm)
		assert.Contains(t, out.String(), "the payment is paid")
		assert.Equal(t, 2, aws.signed, "the login and the payment")
	}
}

// The modules of the other two are there. What they do is tested by their makers: both need an account.
func TestSchemesOfTheClouds(t *testing.T) {
	for _, scheme := range []string{"awskms:", "azurekms:", "cloudkms:"} {
		kind, err := apiv1.TypeOf(scheme)
		require.NoError(t, err)
		_, known := apiv1.LoadKeyManagerNewFunc(kind)
		assert.True(t, known, scheme)
	}
}
