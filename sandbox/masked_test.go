package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

// A chosen app key has no form by which it is known, and that of an earlier start is still a key. Wherever a caller
// puts one of them, or a registered one, the recorded requests do not show it.
func TestRecordedRequestsShowNoAppKey(t *testing.T) {
	const earlier, chosen = "an-earlier-key-of-22", "a-chosen-key-of-16"
	kept := new(storetest.Encoded)
	startedAgain(kept, sandbox.WithAPIKey(earlier))
	host := startedAgain(kept, sandbox.WithControl(), sandbox.WithAPIKey(chosen))
	registered, err := host.RegisterAppKey(sandbox.AppKeyRegistration{})
	require.NoError(t, err)
	keys := []string{earlier, chosen, registered.Key.Reveal()}
	ask := func(method, path, body string, header http.Header) string {
		request := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
		request.RemoteAddr, request.Header = "127.0.0.1:4000", header
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		return recorder.Body.String()
	}
	for _, key := range keys {
		ask(http.MethodPost, "/contacts/"+key, `{"name":"`+key+`"}`, http.Header{"Authorization": {"Bearer " + key},
			"X-Note": {key}, "Content-Type": {"application/json"}})
	}
	requests := host.Requests()
	require.Len(t, requests, len(keys))
	shown := ask(http.MethodGet, "/_host/requests", "", http.Header{})
	for _, request := range requests {
		shown += ask(http.MethodGet, "/_host/requests/"+strconv.Itoa(request.ID), "", http.Header{})
	}
	assert.Contains(t, shown, "[redacted]")
	for _, key := range keys {
		assert.NotContains(t, shown, key)
	}
}
