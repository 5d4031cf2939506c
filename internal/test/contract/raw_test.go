package contract_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
)

type (
	object = target.Object
	reply  = target.Reply
)

// session is a login by hand: what the SDK would refuse to send, such as a misspelled id, goes this way.
type session struct {
	*world
	access, refresh string
	acting          string // a client
}

// session logs in. On a real host that is done once, for logins have a narrow window. Source: Limits, Rate windows.
func (w *world) session() *session {
	w.Helper()
	if w.held != nil {
		return &session{world: w, access: w.held.access, refresh: w.held.refresh}
	}
	s := &session{world: w}
	granted, err := w.caller().LogIn(w.Context(), w.email, w.key, w.now())
	require.NoError(w, err)
	s.access, s.refresh = granted.Access, granted.Refresh
	if w.host == nil {
		w.held = s
	}
	return s
}

func (w *world) now() time.Time {
	if w.host != nil {
		return w.host.Now()
	}
	return time.Now()
}

// challenge starts a login that lasts so long.
func (s *session) challenge(email string, lifetime time.Duration) reply {
	s.Helper()
	return s.came(s.caller().Challenge(s.Context(), email, s.now().Add(lifetime)))
}

func (s *session) complete(challenge reply) reply {
	s.Helper()
	return s.came(s.caller().Complete(s.Context(), s.key, challenge))
}

func (s *session) sign(payload []byte) string {
	s.Helper()
	signature, err := s.key.Sign(s.Context(), payload)
	require.NoError(s, err)
	return base64.StdEncoding.EncodeToString(signature)
}

// send makes a call of the platform API. A string or bytes are sent as they are.
func (s *session) send(method, path string, body any, headers ...string) reply {
	s.Helper()
	if s.access != "" {
		headers = append([]string{"Authorization", "Bearer " + s.access}, headers...)
	}
	if s.acting != "" {
		headers = append([]string{"X-Service-Account", s.acting}, headers...)
	}
	return s.plain(method, "/dapi/v1"+path, body, headers...)
}

// plain makes a call without a credential.
func (w *world) plain(method, path string, body any, headers ...string) reply {
	w.Helper()
	return w.came(w.caller().Send(w.Context(), method, path, body, headers...))
}

// deliver sends a request past the SDK, and past any proxy: what it sends may be wrong on purpose.
func (w *world) deliver(request *http.Request) reply {
	w.Helper()
	return w.came(w.caller().Deliver(request))
}

func (w *world) caller() *target.Caller { return &target.Caller{BaseURL: w.baseURL, Next: w.direct} }

// came unwraps a response that has to arrive.
func (w *world) came(r reply, err error) reply {
	w.Helper()
	require.NoError(w, err)
	return r
}

// unique is a key that no other run has.
func (w *world) unique(what string) string { return what + "-" + hex.EncodeToString(randomBytes(8)) }

func (w *world) uniqueKey(what string) moneymovement.Key { return moneymovement.Key(w.unique(what)) }

// address is a wallet that nobody has.
func (w *world) address() string { return "0x" + hex.EncodeToString(randomBytes(20)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// needs skips a case that the account is not set up for.
func (w *world) needs(there bool, what string) {
	w.Helper()
	if there {
		return
	}
	require.Nil(w, w.host, "the embedded host misses %s", what)
	*w.because = "needs " + what
	w.Skip(*w.because)
}
