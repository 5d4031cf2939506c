package model_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// signer is a wallet that returns what the test sets.
type signer struct {
	address string
	err     error
}

func (s signer) Address() string { return s.address }

func (s signer) SignMessage(context.Context, []byte) (string, error) { return "0x", s.err }

func TestInvalidCardSignerIsRefused(t *testing.T) {
	down := errors.New("the wallet is locked")
	for name, c := range map[string]struct {
		wallet model.CardSigner
		id     string
		field  string
	}{
		"no card":               {signer{address: "0x1"}, "", "card_id"},
		"no segment of a path":  {signer{address: "0x1"}, "..", "card_id"},
		"no wallet":             {nil, "card_1", "wallet"},
		"an empty wallet":       {signer{}, "card_1", "wallet"},
		"a wallet that refuses": {signer{address: "0x1", err: down}, "card_1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			proof, err := model.SignCardDetails(t.Context(), c.wallet, c.id, time.Now())
			assert.Zero(t, proof)
			if c.field == "" {
				undelivered, ok := errors.AsType[*errors.NotDelivered](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, "RevealCardDetails", undelivered.Operation)
				require.ErrorIs(t, err, down)
				return
			}
			input, ok := errors.AsType[*errors.InvalidInput](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, "RevealCardDetails", input.Operation)
			assert.Len(t, input.Fields, 1)
			assert.Equal(t, c.field, input.Fields[0].Field)
		})
	}
}

func TestCardSignatureNeedsAContext(t *testing.T) {
	var without context.Context
	_, err := model.SignCardDetails(without, signer{address: "0x1"}, "card_1", time.Now())
	input, ok := errors.AsType[*errors.InvalidInput](err)
	require.True(t, ok, "%v", err)
	require.Len(t, input.Fields, 1)
	assert.Equal(t, "context", input.Fields[0].Field)
}

func TestCardDetailsDoNotPrint(t *testing.T) {
	// a time can hold any three digits
	timeless := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	for number, want := range map[string]string{
		"4242424242421234": "card details (redacted, ending 1234)", "": "card details (redacted)",
		"1234":         "card details (redacted)",
		"123456781234": "card details (redacted, ending 1234)", "42424241234": "card details (redacted)",
	} {
		details := model.CardDetails{
			CardNumber: moneymovement.NewSecret(number), CVV: moneymovement.NewSecret("987"),
			ExpiryDate: moneymovement.NewSecret("12/29"),
		}
		var printed bytes.Buffer
		fmt.Fprintf(&printed, "%v %+v %#v %s %q %x %v %+v",
			details, details, details, details, details, details, &details, struct{ D model.CardDetails }{details})
		slog.New(slog.NewJSONHandler(&printed, timeless)).Info("card", "details", details)
		slog.New(slog.NewTextHandler(&printed, timeless)).Info("card", "details", &details)
		assert.Contains(t, printed.String(), want)
		assert.NotContains(t, printed.String(), "987")
		assert.NotContains(t, printed.String(), "424242")
	}
}

func TestCardSignatureDoesNotPrint(t *testing.T) {
	proof := model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0xsigned"), Nonce: 42}
	var printed bytes.Buffer
	fmt.Fprintf(&printed, "%v %+v %#v %v", proof, proof, proof, struct {
		P *model.CardDetailsProof
	}{&proof})
	slog.New(slog.NewJSONHandler(&printed, nil)).Info("card", "proof", proof)
	slog.New(slog.NewTextHandler(&printed, nil)).Info("card", "proof", &proof)
	assert.Contains(t, printed.String(), `{"messageSignature":"[redacted]","nonce":42}`)
	assert.NotContains(t, printed.String(), "signed")
}

func TestCardListWithoutKYCStatus(t *testing.T) {
	for name, version := range versions {
		for body, want := range map[string]model.KYCStatus{
			`{"cards":[]}`:                                   model.KYCStatusNotStarted,
			`{"cards":[],"kycStatus":null}`:                  model.KYCStatusNotStarted,
			`{"cards":[],"kycStatus":"approved"}`:            model.KYCStatusApproved,
			`{"cards":[{"dailySpend":0.1}],"kycStatus":"x"}`: "x",
		} {
			list := model.CardList{KYCStatus: "of an earlier response"}
			require.NoError(t, version.unmarshal([]byte(body), &list), name)
			assert.Equal(t, want, list.KYCStatus, "%s: %s", name, body)
		}
		for _, body := range []string{`{"cards":1}`, `7`, `"cards"`, `[]`} {
			assert.Error(t, version.unmarshal([]byte(body), &model.CardList{}), "%s: %s", name, body)
		}
	}
}
