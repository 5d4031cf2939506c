package signing_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

// unseen are disguises that CheckChallenge does not see, and says so.
var unseen = map[string]func(approval string) string{
	"a digest":     func(string) string { return "\x93\xe1\x07\x44" },
	"hexadecimal":  func(a string) string { return hex.EncodeToString([]byte(a)) },
	"base32":       func(a string) string { return base32.StdEncoding.EncodeToString([]byte(a)) },
	"percents":     url.QueryEscape,
	"HTML":         func(a string) string { return strings.ReplaceAll(html.EscapeString(a), "I", "&#73;") },
	"a form":       func(string) string { return "approvalId=apr_1&operation=payout.fund" },
	"XML":          func(string) string { return "<approvalId>apr_1</approvalId>" },
	"values alone": func(string) string { return `["apr_1","payout.fund","po_7","25.5"]` },
	"other names": func(a string) string {
		return strings.NewReplacer("approval", "apr", "amount", "n", "operation", "op").Replace(a)
	},
	"other letters": func(a string) string { return strings.NewReplacer("a", "\u0430", "o", "\u043e").Replace(a) },
	"letters within": func(a string) string {
		return strings.NewReplacer("I", ".I", "amo", "am.o", "oper", "op.er").Replace(a)
	},
	"backwards": func(a string) string {
		letters := []byte(a)
		slices.Reverse(letters)
		return string(letters)
	},
	"base64 four times": func(a string) string { return base64Of(base64Of(base64Of(base64Of(a)))) },
	"compressed": func(a string) string {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, _ = writer.Write([]byte(a))
		_ = writer.Close()
		return packed.String()
	},
}

// sandboxForm is the form of the sandbox host's challenges.
var sandboxForm = signing.ChallengeForm{
	"challengeId": "", "email": "ops@example.com", "expiresAt": "", "nonce": "", "purpose": "login",
}

const sandboxChallenge = `{"challengeId":"ch_1","email":"ops@example.com","expiresAt":"2026-03-01T12:05:00Z",` +
	`"nonce":"QUJD","purpose":"login"}`

// OnlyChallenges refuses every disguise: those that CheckChallenge sees, and those that it says it does not see.
func TestOnlyChallengesRefusesEveryDisguise(t *testing.T) {
	approval := string(canonical(t, payoutTerms()))
	strict := signing.VerifyChallengeWith(signing.OnlyChallenges(sandboxForm))
	refuses := func(t *testing.T, payload string) {
		t.Helper()
		signer := &recordingSigner{DeveloperKey: newKey(t)}
		_, err := signing.SignChallenge(t.Context(), signer,
			signing.Challenge{ID: "ch_1", Payload: []byte(payload)}, nil, strict)
		refused, ok := errors.AsType[*signing.ChallengeRefused](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, "ch_1", refused.ChallengeID)
		assert.Empty(t, signer.signed)
	}
	for how, disguise := range disguises {
		t.Run(how, func(t *testing.T) { refuses(t, disguise(approval)) })
	}
	for how, disguise := range unseen {
		t.Run(how, func(t *testing.T) {
			hidden := disguise(approval)
			require.NoError(t, signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: []byte(hidden)}, nil),
				"it is seen: say so in its documentation")
			refuses(t, hidden)
		})
	}
}

func TestAChallengeHasTheWholeForm(t *testing.T) {
	type form = signing.ChallengeForm
	for name, tc := range map[string]struct {
		form    form
		payload string
		reason  string // "" for signed
	}{
		"the form":              {sandboxForm, sandboxChallenge, ""},
		"any email":             {form{"email": ""}, `{"email":"a@b"}`, ""},
		"another email":         {form{"email": "a@b"}, `{"email":"a@c"}`, "it has another value"},
		"a member more":         {form{"email": ""}, `{"email":"a","x":"y"}`, `"x": the member`},
		"a member less":         {form{"a": "", "b": ""}, `{"b":"1"}`, `"a": the member`},
		"an empty member":       {form{"email": ""}, `{"email":""}`, "a non-empty string"},
		"a number":              {form{"n": ""}, `{"n":1}`, "a non-empty string"},
		"an object":             {form{"n": ""}, `{"n":{"m":"1"}}`, "a non-empty string"},
		"not canonical":         {form{"n": ""}, `{"n": "1"}`, "canonical"},
		"twice":                 {form{"n": ""}, `{"n":"1","n":"2"}`, "duplicate"},
		"no object":             {form{"n": ""}, `["n"]`, "not a JSON object"},
		"no JSON":               {form{"n": ""}, "login", "not a JSON object"},
		"no form":               {nil, `{}`, "no members"},
		"a form of an approval": {form{"approvalId": ""}, `{"approvalId":"1"}`, "approvalId"},
	} {
		t.Run(name, func(t *testing.T) {
			key := newKey(t)
			verifier := signing.OnlyChallenges(tc.form)
			if tc.form != nil {
				tc.form["later"] = "" // changes nothing
				defer delete(tc.form, "later")
			}
			signature, err := signing.SignChallenge(t.Context(), key,
				signing.Challenge{ID: "ch_1", Payload: []byte(tc.payload)}, nil, signing.VerifyChallengeWith(verifier))
			if tc.reason == "" {
				require.NoError(t, err)
				require.NoError(t, signing.Verify(key.PublicKey(), []byte(tc.payload), signature))
				return
			}
			refused, ok := errors.AsType[*signing.ChallengeRefused](err)
			require.True(t, ok, "%v", err)
			assert.Contains(t, refused.Reason, tc.reason)
		})
	}
}
