package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/console"
)

func TestConsoleContentSecurityPolicy(t *testing.T) {
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
	assert.Contains(t, policy, "require-trusted-types-for 'script'; trusted-types 'none'")
	assert.NotContains(t, policy, "unsafe")
	assert.NotContains(t, policy, "http", "no other host")
	_, script, found := strings.Cut(w.Body.String(), `<script type="module">`)
	require.True(t, found, "the page has a script")
	script, _, _ = strings.Cut(script, "</script>")
	sum := sha256.Sum256([]byte(script))
	assert.Contains(t, policy, "script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
}

func TestConsoleLoadsNothingFromOtherOrigins(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_console", nil))
	for _, reference := range []string{`src="http`, `src='http`, `src="//`, "@import", "url(http", "url(//"} {
		assert.NotContains(t, w.Body.String(), reference)
	}
}

func TestConsolePageIsComplete(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_console", nil))
	body := w.Body.String()
	assert.NotContains(t, body, "/* style */", "the style has its place")
	assert.NotContains(t, body, "/* script */", "the script has its place")
	files, err := filepath.Glob("page/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		script, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, body, string(script), "%s is a part of the page", file)
		for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
			"</script"} {
			assert.NotContains(t, string(script), way, "%s: text is no HTML and no code", file)
		}
	}
}
