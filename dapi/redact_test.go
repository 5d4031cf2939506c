package dapi_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
)

func TestLoginBodiesPrintNoSecret(t *testing.T) {
	const secret = "of-everything"
	for _, body := range []any{
		dapi.TokenGrant{AccessToken: secret, RefreshToken: secret},
		&dapi.TokenGrant{AccessToken: secret},
		dapi.RefreshRequest{RefreshToken: secret},
		dapi.TokenRequest{ChallengeID: "ch_1", Signature: dapi.Base64(secret)},
	} {
		var printed bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			fmt.Fprintf(&printed, verb+"\n"+verb+"\n", body, struct{ Body any }{body})
		}
		slog.New(slog.NewTextHandler(&printed, nil)).Info("got", "body", body)
		slog.New(slog.NewJSONHandler(&printed, nil)).Info("got", "body", body)
		assert.Contains(t, printed.String(), "[redacted]")
		for _, trace := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprint([]byte(secret))} {
			assert.NotContains(t, printed.String(), trace, "%T", body)
		}
	}
}
