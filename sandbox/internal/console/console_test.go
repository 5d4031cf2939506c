package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/console"
)

func TestThePageMayRunOnlyItsOwnBlocks(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_console", nil))
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	assert.Equal(t, "no-cache", w.Header().Get("Cache-Control"))
	policy := w.Header().Get("Content-Security-Policy")
	for _, directive := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
		assert.Contains(t, policy, directive)
	}
	assert.NotContains(t, policy, "unsafe")
	assert.NotContains(t, policy, "http", "no other host")
	_, script, found := strings.Cut(w.Body.String(), "<script>")
	require.True(t, found, "the page has a script")
	script, _, _ = strings.Cut(script, "</script>")
	sum := sha256.Sum256([]byte(script))
	assert.Contains(t, policy, "script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
}

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_console", nil))
	for _, reference := range []string{`src="http`, `src='http`, `src="//`, "@import", "url(http", "url(//"} {
		assert.NotContains(t, w.Body.String(), reference)
	}
}
