package signing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

// utf16Of and utf32Of write text as the encodings do, with a byte order mark.
func utf16Of(order binary.AppendByteOrder, text string) string {
	var data []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		data = order.AppendUint16(data, unit)
	}
	return string(data)
}

func utf32Of(order binary.AppendByteOrder, text string) string {
	var data []byte
	for _, r := range "\ufeff" + text {
		data = order.AppendUint32(data, uint32(r))
	}
	return string(data)
}

// quoted is a JSON string that holds text.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// disguises are ways in which the bytes of an approval may come so that a strict parser sees none.
var disguises = map[string]func(approval string) string{
	"plain":                     func(a string) string { return a },
	"a byte order mark":         func(a string) string { return "\ufeff" + a },
	"two byte order marks":      func(a string) string { return "\ufeff\ufeff" + a },
	"NULs before":               func(a string) string { return "\x00\x00" + a },
	"NULs after":                func(a string) string { return a + "\x00" },
	"NULs between":              func(a string) string { return strings.Join(strings.Split(a, ""), "\x00") },
	"a comment before":          func(a string) string { return "/* login */ // and\n" + a },
	"comments within":           func(a string) string { return strings.ReplaceAll(a, ":", "/*:*///:\n#:\n:") },
	"what looks like a comment": func(a string) string { return `{"a":"/*","b":` + a + `,"c":"*/"}` },
	"half a comment":            func(a string) string { return `{"see":"http://login","b":` + a + `}` },
	"in an array":               func(a string) string { return "[" + a + "]" },
	"in arrays": func(a string) string {
		return strings.Repeat("[", 500) + a + strings.Repeat("]", 500)
	},
	"in an object": func(a string) string { return `{"purpose":"login","for":` + a + `}` },
	"upper case":   strings.ToUpper,
	"lower case":   strings.ToLower,
	"a long s":     func(a string) string { return strings.ReplaceAll(a, "s", "\u017f") },
	"dashes": func(a string) string {
		return strings.NewReplacer("lI", "l_i", "eI", "e-i").Replace(a)
	},
	"white space": func(a string) string {
		return " \r\n\t" + strings.ReplaceAll(a, ":", " \n\u00a0:\v\f")
	},
	"a line after":            func(a string) string { return a + "\n" },
	"a comma after":           func(a string) string { return strings.TrimSuffix(a, "}") + ",}," },
	"a value before":          func(a string) string { return `{"operation":"login"}` + a },
	"a value after":           func(a string) string { return a + `{"operation":"login"}` },
	"names twice":             func(a string) string { return `{"operation":"login","a":1,"a":2,` + a[1:] },
	"text before":             func(a string) string { return "it's a login: " + a },
	"cut off":                 func(a string) string { return strings.TrimSuffix(a, "}") },
	"bytes that are no UTF-8": func(a string) string { return "\xff" + strings.Replace(a, "I", "\xfeI", 1) },
	"single quotes":           func(a string) string { return strings.ReplaceAll(a, `"`, "'") },
	"names without quotes": func(a string) string {
		return strings.NewReplacer(`{"`, "{", `,"`, ",", `":`, ":").Replace(a)
	},
	"UTF-16, little endian": func(a string) string { return utf16Of(binary.LittleEndian, a) },
	"UTF-16, big endian":    func(a string) string { return utf16Of(binary.BigEndian, a) },
	"UTF-16 without a mark": func(a string) string { return utf16Of(binary.LittleEndian, a)[2:] },
	"UTF-32":                func(a string) string { return utf32Of(binary.LittleEndian, a) },
	"escapes": func(a string) string {
		return strings.NewReplacer("I", `\u0049`, "r", `\u0072`, "u", `\u0075`).Replace(a)
	},
	"escapes of other languages": func(a string) string {
		return strings.NewReplacer("I", `\u{49}`, "p", `\x70`, "o", "\\\no", "u", `\u`+"0075").Replace(a)
	},
	"escaped white space":  func(a string) string { return strings.ReplaceAll(a, ":", `\n\r\t\f\v:`) },
	"escapes without text": func(a string) string { return strings.NewReplacer("I", `\bI`, "o", `\0o`).Replace(a) },
	"a string":             quoted,
	"a string in a string": func(a string) string { return quoted(quoted(quoted(a))) },
	"a string in an object": func(a string) string {
		return `{"challenge":` + quoted(strings.ReplaceAll(a, "I", `\u0049`)) + `}`
	},
	"base64": base64Of,
	"base64 for an address": func(a string) string {
		return base64.RawURLEncoding.EncodeToString([]byte("\xfb\xff\xfe" + a))
	},
	"base64 in an object":    func(a string) string { return `{"payload":"` + base64Of(a) + `"}` },
	"base64 after letters":   func(a string) string { return "login" + base64Of(a) },
	"base64 before a letter": func(a string) string { return base64Of(a+strings.Repeat(" ", (3-len(a)%3)%3)) + "A" },
	"base64 in lines":        func(a string) string { return lines(base64Of(a), 10) },
	"base64 of base64":       func(a string) string { return base64Of(quoted(base64Of(a))) },
	"base64 of UTF-16":       func(a string) string { return base64Of(utf16Of(binary.LittleEndian, a)) },
	"the middle of a token": func(a string) string {
		return base64Of(`{"alg":"none"}`) + "." + base64Of(a) + ".c2ln"
	},
	"UTF-16 of an odd string": func(a string) string { return utf16Of(binary.BigEndian, "\u2028"+quoted(a)) },
}

// lines breaks text after every n letters.
func lines(text string, n int) string {
	var broken strings.Builder
	for i, letter := range text {
		if i > 0 && i%n == 0 {
			broken.WriteByte('\n')
		}
		broken.WriteRune(letter)
	}
	return broken.String()
}

func TestDisguisedApprovalIsRefusedAsAChallenge(t *testing.T) {
	key := newKey(t)
	for what, approval := range map[string]string{
		"an approval":           string(canonical(t, payoutTerms())),
		"its id alone":          `{"approvalId":"apr_1"}`,
		"its id and nothing":    `{"approvalId":null}`,
		"a resource, an amount": `{"resourceId":"po_7","amount":"25.5"}`,
		"a payout":              `{"operation":"payout.fund"}`,
		"an escrow":             `{"operation":"escrow.release"}`,
		"several operations":    `{"operation":["payout.fund"]}`,
	} {
		for how, disguise := range disguises {
			t.Run(what+" / "+how, func(t *testing.T) {
				requireNoChallenge(t, key, []byte(disguise(approval)))
			})
		}
	}
}

// A whole approval is found by many of its parts. These have one part each, in the least that has to be found.
func TestMinimalApprovalIsRefusedAsAChallenge(t *testing.T) {
	key := newKey(t)
	signs := "approvalId/*>>>???*/:"
	require.Contains(t, base64Of(signs), "+")
	require.Contains(t, base64Of(signs), "/")
	tests := map[string]string{
		"sixteen letters of base64":      base64Of("approvalId:1"),
		"and one letter more":            base64Of(" approvalId:") + "A",
		"base64 with its signs":          base64Of(signs),
		"base64 with those of addresses": base64.URLEncoding.EncodeToString([]byte(signs)),
		"base64 three times":             base64Of(base64Of(base64Of("approvalId:1"))),
		"a deleted letter":               "approval\x7fId:",
		"many layers of escapes":         `\` + strings.Repeat("u005c", 14) + "u0061pprovalId:",
	}
	for _, space := range []string{" ", "\t", "\n", "\f", "\r"} {
		tests[fmt.Sprintf("base64 around %q", space)] = strings.Replace(base64Of("approvalId:1"), "YXBwcm9",
			"YXBwcm9"+space, 1)
	}
	for _, end := range []string{"\n", "\r", "\r\n"} {
		tests[fmt.Sprintf("a line that goes on after %q", end)] = `approval\` + end + "Id:"
	}
	for name, payload := range tests {
		t.Run(name, func(t *testing.T) { requireNoChallenge(t, key, []byte(payload)) })
	}
}

// The work is bounded: what is hidden deeper than anybody reads is not looked for.
func TestDepthOfDisguisesIsBounded(t *testing.T) {
	for name, payload := range map[string]string{
		"base64 four times":   base64Of(base64Of(base64Of(base64Of("approvalId:1")))),
		"escapes in escapes":  `\` + strings.Repeat("u005c", 15) + "u0061pprovalId:",
		"a backslash, no end": `approvalId\`,
	} {
		require.NoError(t, signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: []byte(payload)}, nil), name)
	}
}

// requireNoChallenge proves that a challenge is refused, and that its signer is never asked.
func requireNoChallenge(t *testing.T, key *signing.DeveloperKey, payload []byte) {
	t.Helper()
	signer := &recordingSigner{DeveloperKey: key}
	challenge := signing.Challenge{ID: "ch_1", Payload: payload}
	signature, err := signing.SignChallenge(t.Context(), signer, challenge, nil)
	refused, ok := errors.AsType[*signing.ChallengeRefused](err)
	require.True(t, ok, "%v: %q", err, payload)
	assert.Equal(t, "ch_1", refused.ChallengeID)
	assert.NotEmpty(t, refused.Reason)
	assert.Contains(t, err.Error(), `login challenge "ch_1" refused`)
	assert.Nil(t, signature)
	assert.Empty(t, signer.signed, "the signer was asked")
	assert.Equal(t, err, signing.CheckChallenge(challenge, nil))
}

func TestMalformedChallengesAreRefused(t *testing.T) {
	for name, payload := range map[string][]byte{
		"none": nil, "empty": {}, "too many": []byte(strings.Repeat("x", 16_385)),
	} {
		t.Run(name, func(t *testing.T) { requireNoChallenge(t, newKey(t), payload) })
	}
	require.NoError(t,
		signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: []byte(strings.Repeat("x", 16_384))}, nil),
		"as many as may be")
}

// A caller's verifier may cost something, and is not asked for nothing.
func TestVerifierIsNotCalledAfterTheContextEnded(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := signing.SignChallenge(ended, newKey(t), signing.Challenge{ID: "ch_1", Payload: []byte("login")}, nil,
		signing.VerifyChallengeWith(func(context.Context, signing.Challenge, error) error {
			t.Error("asked")
			return nil
		}))
	require.ErrorIs(t, err, context.Canceled)
	_, err = signing.PrepareApproval(ended, newKey(t), approvalOf(t, payoutTerms()), payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error {
			t.Error("asked")
			return nil
		}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestChallengesAreSignedAsTheyAre(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		for name, payload := range map[string]string{
			"an operation":        `{"operation":"login"}`,
			"no operation":        `{"operation":null}`,
			"an operation's name": `{"operation":"login","note":"payout.fund"}`,
			"a longer operation":  `{"operation":"prepayout.fund"}`,
			"as the sandbox has it": `{"challengeId":"ch_1","email":"ops@example.com",` +
				`"nonce":"QUJDREVGR0hJSktMTU5PUFFS","purpose":"login"}`,
			"bytes":                     "\x00\x01\xff",
			"one byte":                  "\x00",
			"text":                      "Sign in to example.com at 12:00: nonce 7",
			"a list of words":           `["operation","approvalId","resourceId","amount"]`,
			"words":                     `"approvalId"`,
			"an amount":                 `{"amount":"1"}`,
			"a resource":                `{"resourceId":"ch_1"}`,
			"another id":                `{"loginApprovalId":"1","approvalIds":[]}`,
			"base64 of bytes":           base64Of(strings.Repeat("\x93\xe1\x07", 30)),
			"base64 of a challenge":     base64Of(`{"purpose":"login","at":"2026-03-01T12:00:00Z"}`),
			"backslashes":               strings.Repeat(`\`, 300),
			"escapes that are not text": `"\ud800\u{110000}\u{ffffff}\x"`,
		} {
			t.Run(name, func(t *testing.T) {
				challenge := signing.Challenge{ID: "ch_1", Payload: []byte(payload)}
				require.NoError(t, signing.CheckChallenge(challenge, new(signing.SeenApprovals)))
				signature, err := signing.SignChallenge(t.Context(), key, challenge, nil)
				require.NoError(t, err)
				require.NoError(t, signing.Verify(key.PublicKey(), []byte(payload), signature))
			})
		}
	})
}

// An opaque approval is told from a challenge only where its bytes were seen before.
func TestSeenApprovalsAreRefusedAsChallenges(t *testing.T) {
	seen := new(signing.SeenApprovals)
	challenge := signing.Challenge{ID: "ch_1", Payload: []byte("\x01opaque")}
	require.NoError(t, signing.CheckChallenge(challenge, seen))
	seen.Add([]byte("\x01opaque"))
	seen.Add([]byte("\x01opaque"))
	_, ok := errors.AsType[*signing.ChallengeRefused](signing.CheckChallenge(challenge, seen))
	require.True(t, ok)

	signer := &recordingSigner{DeveloperKey: newKey(t)}
	_, err := signing.SignChallenge(t.Context(), signer, challenge, seen)
	require.Error(t, err)
	require.Empty(t, signer.signed)
}

func TestSeenApprovalsAreBounded(t *testing.T) {
	const most = 10_000
	seen := new(signing.SeenApprovals)
	refused := func(i int) bool {
		return signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: fmt.Appendf(nil, "opaque %d", i)},
			seen) != nil
	}
	for i := range 2*most + 5 {
		seen.Add(fmt.Appendf(nil, "opaque %d", i))
		if i == most-1 {
			assert.True(t, refused(0), "as many as there is room for")
		}
	}
	assert.False(t, refused(most+4), "the oldest are forgotten first")
	assert.True(t, refused(most+5))
	assert.True(t, refused(2*most+4))
	assert.Equal(t, most, seen.Len())

	again := new(signing.SeenApprovals)
	again.Add([]byte("opaque 0"))
	for range most {
		again.Add([]byte("opaque 1"))
	}
	assert.Error(t, signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: []byte("opaque 0")}, again),
		"one that comes again takes no room")
}

func TestChallengeVerifierIsCalledLast(t *testing.T) {
	good := signing.Challenge{ID: "ch_1", Payload: []byte(`{"operation":"login"}`)}
	bad := signing.Challenge{ID: "ch_2", Payload: []byte(`{"approvalId":"apr_1"}`)}
	no := errors.New("not what I log in with")
	own := &signing.ChallengeRefused{ChallengeID: "ch_1", Reason: "my own"}
	for name, tc := range map[string]struct {
		challenge signing.Challenge
		says      func(verdict error) error
		signed    bool
		is        error
	}{
		"allows":              {good, func(error) error { return nil }, true, nil},
		"allows all the same": {bad, func(error) error { return nil }, true, nil},
		"refuses":             {good, func(error) error { return no }, false, no},
		"refuses as well":     {bad, func(error) error { return no }, false, no},
		"keeps the verdict":   {bad, func(verdict error) error { return verdict }, false, nil},
		"its own refusal":     {good, func(error) error { return own }, false, own},
	} {
		t.Run(name, func(t *testing.T) {
			signer := &recordingSigner{DeveloperKey: newKey(t)}
			verifier := func(_ context.Context, c signing.Challenge, verdict error) error {
				assert.Equal(t, tc.challenge, c)
				assert.Equal(t, signing.CheckChallenge(tc.challenge, nil), verdict)
				assert.Empty(t, signer.signed)
				said := tc.says(verdict)
				clear(c.Payload) // its own copy
				return said
			}
			want := string(tc.challenge.Payload)
			signature, err := signing.SignChallenge(t.Context(), signer, tc.challenge, nil,
				signing.VerifyChallengeWith(verifier))
			if tc.signed {
				require.NoError(t, err)
				require.NoError(t, signing.Verify(signer.PublicKey(), []byte(want), signature))
				return
			}
			refused, ok := errors.AsType[*signing.ChallengeRefused](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, tc.challenge.ID, refused.ChallengeID)
			if tc.is != nil {
				require.ErrorIs(t, err, tc.is)
				assert.ErrorContains(t, err, tc.is.Error())
			}
			if name == "its own refusal" {
				assert.Same(t, own, refused, "not in another refusal")
			}
			assert.Contains(t, err.Error(), "refused")
			assert.Empty(t, signer.signed)
		})
	}

	_, err := signing.SignChallenge(t.Context(), newKey(t), bad, nil, signing.VerifyChallengeWith(nil))
	_, ok := errors.AsType[*signing.ChallengeRefused](err)
	require.True(t, ok, "no verifier leaves the decision as it is: %v", err)
}

// FuzzCheckChallenge proves that no bytes panic, that what is accepted as an approval is never a challenge, and that
// an approval is found among any bytes.
func FuzzCheckChallenge(f *testing.F) {
	approval := string(canonical(f, payoutTerms()))
	for _, disguise := range disguises {
		f.Add([]byte(disguise(approval)), []byte(" "), []byte(" "), uint32(7))
	}
	f.Add([]byte(approval), []byte("/*"), []byte("*/"), uint32(0o1234567))
	f.Add([]byte(`{"operation":"login"}`), []byte(`{"a":"\`), []byte(`"}`), uint32(0o76))
	wrappings := []func(string) string{
		func(a string) string { return a },
		func(a string) string { return "[" + a + "]" },
		func(a string) string { return `{"a":` + a + `}` },
		func(a string) string { return "\ufeff" + a },
		func(a string) string { return "\x00" + a },
		func(a string) string { return "/**/" + a + "//" },
		func(a string) string { return " \n" + a + "\t" },
		quoted,
	}
	f.Fuzz(func(t *testing.T, payload, before, after []byte, layers uint32) {
		err := signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: payload}, nil)
		if err != nil {
			if refused, ok := errors.AsType[*signing.ChallengeRefused](err); !ok || refused.ChallengeID != "ch_1" ||
				refused.Reason == "" {
				t.Fatalf("refused by %v", err)
			}
		} else if readableApproval(payload) {
			t.Fatalf("%q is an approval", payload)
		}

		wrapped := approval
		for ; layers > 0; layers /= 8 {
			wrapped = wrappings[layers%8](wrapped)
		}
		among := slices.Concat(before, []byte(wrapped), after)
		if signing.CheckChallenge(signing.Challenge{ID: "ch_1", Payload: among}, nil) == nil {
			t.Fatalf("%q holds an approval", among)
		}
	})
}

// readableApproval reports that CheckApproval accepts the payload for somebody who wants just what it says.
func readableApproval(payload []byte) bool {
	var says struct {
		ApprovalID  string    `json:"approvalId"`
		Operation   string    `json:"operation"`
		ResourceID  string    `json:"resourceId"`
		Account     string    `json:"account"`
		Amount      string    `json:"amount"`
		Currency    string    `json:"currency"`
		ExpiresAt   time.Time `json:"expiresAt"`
		Destination struct {
			ContactID string `json:"contactId"`
			Address   string `json:"address"`
		} `json:"destination"`
	}
	if json.Unmarshal(payload, &says) != nil || len(says.Amount) > 100 {
		return false
	}
	amount, err := decimal.NewFromString(says.Amount)
	return err == nil && signing.CheckApproval(
		signing.Approval{ID: says.ApprovalID, Payload: payload, ExpiresAt: says.ExpiresAt},
		signing.Intent{
			Operation: says.Operation, ResourceID: says.ResourceID, Account: says.Account, Amount: amount,
			Currency:    says.Currency,
			Destination: signing.Destination{ContactID: says.Destination.ContactID, Address: says.Destination.Address},
		}, says.ExpiresAt.Add(-time.Second)) == nil
}

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

func TestChallengeMustHaveTheWholeForm(t *testing.T) {
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
