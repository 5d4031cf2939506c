package recordings_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// recorder starts a host for each example that asks for one.
type recorder struct {
	*testing.T
	mu    sync.Mutex
	hosts map[string]*recordedHost // by example
}

// newRecorder returns a recorder and its address.
func newRecorder(t *testing.T) (*recorder, string) {
	t.Helper()
	r := &recorder{T: t, hosts: map[string]*recordedHost{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start", r.start)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return r, server.URL
}

func (r *recorder) start(w http.ResponseWriter, request *http.Request) {
	var asked recorded.Start
	if !assert.NoError(r, json.UnmarshalRead(request.Body, &asked)) {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	host := newRecordedHost(r.T, asked)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.NotContains(r, r.hosts, asked.Example, "an example starts one server")
	r.hosts[asked.Example] = host
	credentials := host.host.Credentials()
	respond(w, recorded.Started{
		URL: host.url, APIKey: credentials.APIKey.Reveal(), AccessToken: credentials.AccessToken.Reveal(),
		Wallet: credentials.Wallet.Address(),
	})
}

func respond(w http.ResponseWriter, body any) {
	_ = json.MarshalWrite(w, body) // who hung up needs no answer
}

// recordedHost is a sandbox host that notes its requests and responses. Its clock stands still, so that the times in
// responses do not depend on the speed of the machine.
type recordedHost struct {
	*testing.T
	host  *sandbox.Host
	url   string
	start time.Time

	mu         sync.Mutex
	names      *names
	recording  recorded.Recording
	operations []string // that the host carried out, for each exchange of the recording
}

func newRecordedHost(t *testing.T, asked recorded.Start) *recordedHost {
	start := time.Now().Truncate(time.Second)
	h := &recordedHost{T: t, start: start, names: newNames(start)}
	h.host = sandbox.New(sandbox.WithClock(func() time.Time { return start }), sandbox.WithEmail(asked.Email),
		sandbox.WithResponseValidation(func(operation string, err error) {
			assert.NoError(t, err, "%s: %s answers what is not described", asked.Example, operation)
		}))
	_, err := h.host.RegisterKey(sandbox.KeyRegistration{Email: asked.Email, PublicKey: asked.PublicKey})
	assert.NoError(t, err)
	prepare(t, asked.Example, h.host)
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+recorded.ControlPath+"/advance", h.advance)
	mux.HandleFunc("POST "+recorded.ControlPath+"/sign", h.sign)
	mux.HandleFunc("/", h.record)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

func (h *recordedHost) advance(w http.ResponseWriter, request *http.Request) {
	var asked recorded.Advance
	assert.NoError(h, json.UnmarshalRead(request.Body, &asked))
	by, err := time.ParseDuration(asked.By)
	assert.NoError(h, err)
	h.host.Advance(by)
	respond(w, struct{}{})
}

func (h *recordedHost) sign(w http.ResponseWriter, request *http.Request) {
	var asked recorded.Sign
	assert.NoError(h, json.UnmarshalRead(request.Body, &asked))
	signature, err := h.host.Credentials().Wallet.SignMessage(request.Context(), asked.Message)
	assert.NoError(h, err)
	respond(w, recorded.Signed{Signature: signature})
}

// record passes a request to the host, and notes it with its response.
func (h *recordedHost) record(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	assert.NoError(h, err)
	request.Body = io.NopCloser(bytes.NewReader(body))
	answer, lost := h.answer(request)
	h.note(request, body, answer, lost)
	if lost {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// answer returns the host's response. It is lost if the host panics to close the connection.
func (h *recordedHost) answer(request *http.Request) (answer *httptest.ResponseRecorder, lost bool) {
	answer = httptest.NewRecorder()
	defer func() {
		if reason := recover(); reason != nil {
			assert.Equal(h, http.ErrAbortHandler, reason)
			lost = true
		}
	}()
	h.host.ServeHTTP(answer, request)
	return answer, false
}

func (h *recordedHost) note(request *http.Request, body []byte, answer *httptest.ResponseRecorder, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	exchange := recorded.Exchange{Method: request.Method, Path: h.names.sent(request.URL.RequestURI()),
		Body: h.names.request(h.T, body)}
	operation := ""
	if lost {
		exchange.Answer = recorded.Answer{Lost: true}
	} else {
		exchange.Answer, operation = h.noted(answer), h.operation(request.URL.Path, answer)
	}
	h.recording = append(h.recording, exchange)
	h.operations = append(h.operations, operation)
}

func (h *recordedHost) noted(answer *httptest.ResponseRecorder) recorded.Answer {
	noted := recorded.Answer{Now: recorded.Moment(h.host.Now().Sub(h.start)), Status: answer.Code,
		Header: map[string]string{}}
	for name, values := range answer.Header() {
		if name != "Date" && name != "Content-Length" {
			noted.Header[name] = h.names.text(values[0])
		}
	}
	switch text := answer.Body.Bytes(); {
	case isJSON(text):
		noted.Body = h.names.answer(h.T, text)
	case utf8.Valid(text):
		noted.Text = h.names.text(string(text))
	default: // a PDF, which no example looks into
		line, _, _ := bytes.Cut(text, []byte("\n"))
		noted.Text = string(line)
	}
	return noted
}

// operation returns the name of the operation that the host carried out, such as dapi.GetPayout, or "" for a refusal.
func (h *recordedHost) operation(path string, answer *httptest.ResponseRecorder) string {
	seen := h.host.Requests()
	at := slices.IndexFunc(seen, func(r sandbox.Request) bool {
		return r.RequestID == answer.Header().Get("X-Request-Id")
	})
	if answer.Code/100 != 2 || !assert.GreaterOrEqual(h, at, 0) {
		return ""
	}
	surface := "appapi"
	for prefix, other := range map[string]string{
		"/dapi/": "dapi", "/api/": "refapi", "/utils/": "public", "/public/": "public",
	} {
		if strings.HasPrefix(path, prefix) {
			surface = other
		}
	}
	return surface + "." + seen[at].Operation
}
