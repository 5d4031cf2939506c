package contract_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// object is a JSON object.
type object map[string]any

// reply is an answer as it came.
type reply struct {
	status int
	raw    string
	body   object
}

func (r reply) text(name string) string {
	value, _ := r.body[name].(string)
	return value
}

func (r reply) object(name string) object {
	value, _ := r.body[name].(map[string]any)
	return value
}

func (r reply) slug() string {
	code, _ := r.object("error")["code"].(string)
	return code
}

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
	granted := s.complete(s.challenge(w.email, 2*time.Minute))
	require.Equal(w, http.StatusCreated, granted.status, "%s", granted.raw)
	s.access, s.refresh = granted.text("accessToken"), granted.text("refreshToken")
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
	return s.send("POST", "/auth/challenge", object{"email": email, "requestExpiry": s.now().Add(lifetime)})
}

func (s *session) complete(challenge reply) reply {
	s.Helper()
	payload, err := base64.StdEncoding.DecodeString(challenge.text("payload"))
	require.NoError(s, err)
	return s.send("POST", "/auth/token", object{
		"challengeId": challenge.text("challengeId"), "publicKey": s.key.PublicKeyBase64(),
		"signature": s.sign(payload),
	})
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

// plain makes a call without a credential. Of headers that are given twice, the last is sent.
func (w *world) plain(method, path string, body any, headers ...string) reply {
	w.Helper()
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		sent = []byte(b)
	default:
		var err error
		sent, err = json.Marshal(b)
		require.NoError(w, err)
	}
	request, err := http.NewRequestWithContext(w.Context(), method, strings.TrimSuffix(w.baseURL, "/")+path,
		bytes.NewReader(sent))
	require.NoError(w, err)
	if sent != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return w.deliver(request)
}

// deliver sends a request past the SDK, and past any proxy: what it sends may be wrong on purpose.
func (w *world) deliver(request *http.Request) reply {
	w.Helper()
	answer, err := w.direct.RoundTrip(request)
	require.NoError(w, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(w, err)
	r := reply{status: answer.StatusCode, raw: string(raw)}
	_ = json.Unmarshal(raw, &r.body) // a list or a PDF has no members
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
