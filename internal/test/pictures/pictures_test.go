package pictures

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/plain"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const folder = "../../../docs/pictures"

// arrows returns the arrows of a picture, such as "funding -> completed".
func arrows(t *testing.T, picture string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, picture))
	require.NoError(t, err)
	return regexp.MustCompile(`\w+ -> \w+`).FindAllString(string(text), -1)
}

// world is a sandbox host, and a caller without the SDK.
type world struct {
	*plain.Caller
	host    *sandbox.Host
	session plain.Session
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := worlds.Serve(t, sandbox.WithControl(), sandbox.WithInstantProgress())
	return &world{Caller: &plain.Caller{BaseURL: w.URL, Next: http.DefaultTransport}, host: w.Host}
}

// walk takes a step for each arrow of a picture, each in a world of its own.
func walk(t *testing.T, picture string, steps map[string]func(*testing.T, *world)) {
	t.Helper()
	assert.ElementsMatch(t, slices.Collect(maps.Keys(steps)), arrows(t, picture), "an arrow is missing or made up")
	for arrow, step := range steps {
		t.Run(arrow, func(t *testing.T) { step(t, newWorld(t)) })
	}
}

func TestThePictureOfAPayoutHasTheStatesOfTheHost(t *testing.T) {
	w := newWorld(t)
	reply, err := w.Send(t.Context(), http.MethodGet, "/_host/payouts", nil)
	require.NoError(t, err)
	var changes []string
	states, _ := reply.Body["states"].([]any)
	for _, state := range states {
		change, _ := state.(map[string]any)
		from := change["from"]
		if from == "" {
			from = "book"
		}
		changes = append(changes, fmt.Sprintf("%s -> %s", from, change["to"]))
	}
	assert.ElementsMatch(t, changes, arrows(t, "payout.dot"))
}

// Every picture has a white background of its own, so that its dark text can be read on a dark page as well.
func TestThePicturesCanBeReadOnADarkPage(t *testing.T) {
	names, err := filepath.Glob(folder + "/*.dot")
	require.NoError(t, err)
	require.Greater(t, len(names), 4)
	for _, name := range names {
		picture, err := os.ReadFile(strings.TrimSuffix(name, ".dot") + ".svg")
		require.NoError(t, err)
		assert.Regexp(t, `<polygon fill="white"[^>]*/>`, string(picture), name)
		assert.NotRegexp(t, `(fill|fontcolor)="(white|#f{3,6})"[^>]*>[^<]+</text>`, string(picture), name)
	}
}

func TestTheLifeOfASession(t *testing.T) {
	walk(t, "session.dot", map[string]func(*testing.T, *world){
		"no_session -> challenge": func(t *testing.T, w *world) {
			assert.Equal(t, http.StatusCreated, w.challenge(t).Status)
		},
		"challenge -> challenge": func(t *testing.T, w *world) {
			challenge, other := w.challenge(t), w.challenge(t)
			wrong := plain.Reply{Body: plain.Object{"challengeId": challenge.Text("challengeId"),
				"payload": other.Text("payload")}}
			assert.Equal(t, "signature_invalid", w.complete(t, wrong).Slug())
			assert.Equal(t, http.StatusCreated, w.complete(t, challenge).Status)
		},
		"challenge -> no_session": func(t *testing.T, w *world) {
			challenge := w.challenge(t)
			w.host.Advance(5 * time.Minute)
			assert.Equal(t, "challenge_expired", w.complete(t, challenge).Slug())
		},
		"challenge -> active": func(t *testing.T, w *world) {
			w.logIn(t)
			assert.Equal(t, http.StatusOK, w.get(t, "/dapi/v1/chains").Status)
		},
		"active -> stale": func(t *testing.T, w *world) {
			w.logIn(t)
			w.host.Advance(59 * time.Minute)
			assert.Equal(t, http.StatusOK, w.get(t, "/dapi/v1/chains").Status)
			w.host.Advance(time.Minute)
			assert.Equal(t, "token_expired", w.get(t, "/dapi/v1/chains").Slug())
		},
		"stale -> active": func(t *testing.T, w *world) {
			w.logIn(t)
			w.host.Advance(59 * 24 * time.Hour)
			assert.Equal(t, "token_expired", w.get(t, "/dapi/v1/chains").Slug())
			w.renew(t)
			assert.Equal(t, http.StatusOK, w.get(t, "/dapi/v1/chains").Status)
		},
		"stale -> no_session": func(t *testing.T, w *world) {
			w.logIn(t)
			w.host.Advance(60 * 24 * time.Hour)
			reply, err := w.Renew(t.Context(), w.session)
			require.NoError(t, err)
			assert.Equal(t, http.StatusUnauthorized, reply.Status)
			w.logIn(t)
			assert.Equal(t, http.StatusOK, w.get(t, "/dapi/v1/chains").Status)
		},
		"active -> no_session": func(t *testing.T, w *world) {
			w.logIn(t)
			require.NoError(t, w.host.DeleteKey(w.host.Credentials().KeyID))
			assert.Equal(t, "forbidden", w.get(t, "/dapi/v1/chains").Slug())
		},
	})
}

func TestTheLifeOfAnIdempotencyKey(t *testing.T) {
	walk(t, "idempotency-key.dot", map[string]func(*testing.T, *world){
		"unused -> booked": func(t *testing.T, w *world) {
			assert.Equal(t, http.StatusCreated, w.book(t, w.terms(t)).Status)
		},
		"booked -> booked": func(t *testing.T, w *world) {
			terms := w.terms(t)
			first, again := w.book(t, terms), w.book(t, terms)
			assert.Equal(t, http.StatusOK, again.Status)
			assert.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
			assert.JSONEq(t, first.Raw, again.Raw)
			terms["amount"] = "13"
			assert.Equal(t, "idempotency_key_reused", w.book(t, terms).Slug())
		},
		"booked -> reopened": func(t *testing.T, w *world) { w.reopen(t, w.terms(t)) },
		"booked -> paid": func(t *testing.T, w *world) {
			assert.Equal(t, http.StatusOK, w.confirm(t, w.book(t, w.terms(t))).Status)
		},
		"reopened -> paid": func(t *testing.T, w *world) {
			assert.Equal(t, http.StatusOK, w.confirm(t, w.reopen(t, w.terms(t))).Status)
		},
		"paid -> paid": func(t *testing.T, w *world) {
			terms := w.terms(t)
			first := w.book(t, terms)
			require.Equal(t, http.StatusOK, w.confirm(t, first).Status)
			again := w.book(t, terms)
			assert.Equal(t, http.StatusOK, again.Status)
			assert.JSONEq(t, first.Raw, again.Raw)
			assert.Equal(t, "already_funded", w.confirm(t, again).Slug())
		},
		"paid -> forgotten": func(t *testing.T, w *world) {
			terms := w.terms(t)
			first := w.book(t, terms)
			require.Equal(t, http.StatusOK, w.confirm(t, first).Status)
			w.host.Advance(7 * 24 * time.Hour)
			w.renew(t)
			other := w.book(t, terms)
			assert.Equal(t, http.StatusCreated, other.Status)
			assert.NotEqual(t, first.Text("id"), other.Text("id"))
			assert.Equal(t, http.StatusOK, w.confirm(t, other).Status)
			assert.Contains(t, w.get(t, "/_host/accounts").Raw, `"USDC":"75"`, "it is paid twice")
		},
	})
}

func (w *world) challenge(t *testing.T) plain.Reply {
	t.Helper()
	reply, err := w.Challenge(t.Context(), w.host.Credentials().Email, w.host.Now().Add(5*time.Minute))
	require.NoError(t, err)
	return reply
}

func (w *world) complete(t *testing.T, challenge plain.Reply) plain.Reply {
	t.Helper()
	reply, err := w.Complete(t.Context(), w.host.Credentials().Key, challenge)
	require.NoError(t, err)
	return reply
}

func (w *world) logIn(t *testing.T) {
	t.Helper()
	w.keep(t, w.complete(t, w.challenge(t)))
}

func (w *world) renew(t *testing.T) {
	t.Helper()
	reply, err := w.Renew(t.Context(), w.session)
	require.NoError(t, err)
	w.keep(t, reply)
}

func (w *world) keep(t *testing.T, grant plain.Reply) {
	t.Helper()
	require.Equal(t, http.StatusCreated, grant.Status, grant.Raw)
	w.session = plain.Session{Access: grant.Text("accessToken"), Refresh: grant.Text("refreshToken")}
}

func (w *world) get(t *testing.T, path string) plain.Reply {
	t.Helper()
	return w.send(t, http.MethodGet, path, nil)
}

func (w *world) send(t *testing.T, method, path string, body any, headers ...string) plain.Reply {
	t.Helper()
	reply, err := w.Send(t.Context(), method, path, body,
		append(headers, "Authorization", "Bearer "+w.session.Access)...)
	require.NoError(t, err)
	return reply
}

// terms logs in, credits the account with 100 USDC, and returns the terms of a payout of 12.5.
func (w *world) terms(t *testing.T) plain.Object {
	t.Helper()
	w.logIn(t)
	deposit := w.send(t, http.MethodPost, "/dapi/v1/sandbox/deposits", plain.Object{"amount": "100", "currency": "USDC"})
	require.True(t, deposit.Accepted(), deposit.Raw)
	contact := w.send(t, http.MethodPost, "/dapi/v1/contacts", plain.Object{"name": "Supplier", "account": plain.Object{
		"accountType": "sepa", "currency": "EUR", "iban": "DE89370400440532013000", "accountHolderName": "Supplier"}})
	require.True(t, contact.Accepted(), contact.Raw)
	return plain.Object{"contactId": contact.Text("id"), "amount": "12.5", "currency": "USDC"}
}

func (w *world) book(t *testing.T, terms plain.Object) plain.Reply {
	t.Helper()
	return w.send(t, http.MethodPost, "/dapi/v1/payouts", terms, "Idempotency-Key", "invoice-42")
}

// reopen books, lets the approval expire, and books again.
func (w *world) reopen(t *testing.T, terms plain.Object) plain.Reply {
	t.Helper()
	first := w.book(t, terms)
	w.host.Advance(120 * time.Second)
	assert.Equal(t, "funding_attempt_expired", w.confirm(t, first).Slug())
	again := w.book(t, terms)
	assert.Equal(t, http.StatusOK, again.Status)
	assert.Equal(t, first.Text("id"), again.Text("id"))
	assert.NotEqual(t, first.Object("approval")["id"], again.Object("approval")["id"])
	return again
}

func (w *world) confirm(t *testing.T, booked plain.Reply) plain.Reply {
	t.Helper()
	approval := booked.Object("approval")
	encoded, _ := approval["payload"].(string)
	payload, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	key := w.host.Credentials().Key
	signature, err := key.Sign(t.Context(), payload)
	require.NoError(t, err)
	return w.send(t, http.MethodPost, "/dapi/v1/payouts/"+booked.Text("id")+"/confirm", plain.Object{
		"approvalId": approval["id"], "publicKey": base64.StdEncoding.EncodeToString(key.PublicKey()),
		"signature": base64.StdEncoding.EncodeToString(signature),
	})
}
