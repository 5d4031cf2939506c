package main

import (
	"bytes"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

// screen is what the program prints, which a test reads meanwhile.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.text.Write(text)
}

// find waits until the program has printed what matches, and returns the first group.
func (s *screen) find(t *testing.T, expression string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for wanted := regexp.MustCompile(expression); ; {
		s.mu.Lock()
		found, changed, text := wanted.FindStringSubmatch(s.text.String()), s.changed, s.text.String()
		s.mu.Unlock()
		if found != nil {
			return found[len(found)-1]
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.Fail(t, "it was not printed: "+expression, "%s", text)
		}
	}
}

// started runs the program until the test ends.
func started(t *testing.T, args ...string) *screen {
	t.Helper()
	out := &screen{changed: make(chan struct{})}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, args, out) }()
	t.Cleanup(func() {
		interrupt()
		require.NoError(t, <-ended)
		rehearsal.CheckSteps(t, out.text.String(), "open http://", "stopped")
	})
	return out
}

// browse sends what a person's browser sends, and returns the page.
func browse(t *testing.T, client *http.Client, address string, form url.Values) string {
	t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	require.NoError(t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s", page)
	return string(page)
}

// decide logs a person in, who retries the payment for which there is too little money, and then cancels it.
func decide(t *testing.T, out *screen) {
	t.Helper()
	base := out.find(t, `open (http://\S+)/login`)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar}
	page := browse(t, client, base+"/login", url.Values{"name": {"Zoë"}})
	keys := regexp.MustCompile(`<a href="payment\?key=([^"]+)">`).FindAllStringSubmatch(page, -1)
	require.Len(t, keys, 2, page)
	key := keys[1]
	for _, decision := range []struct{ what, then string }{
		{"retry", `(?s)after Zoë decided: retry.*is needs_decision\n`},
		{"cancel", `is refused\n\s+after Zoë decided: cancel`},
	} {
		page = browse(t, client, base+"/payments/decide?decision="+decision.what+"&key="+key[1], nil)
		stored := "Your decision is stored: " + decision.what + "."
		for steps := 0; steps < 2 && !strings.Contains(page, stored); steps++ { // some are shown once more before
			form := url.Values{"note": {"a demonstration"}, "step": {"review"}}
			for _, input := range regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`).
				FindAllStringSubmatch(page, -1) {
				form.Set(input[1], html.UnescapeString(input[2]))
			}
			page = browse(t, client, base+"/payments/decide", form)
		}
		assert.Contains(t, page, stored)
		printed := out.find(t, "(?s)^(.*"+decision.then+")")
		assert.Equal(t, 1, strings.Count(printed, "decided: "+decision.what), printed)
	}
}

func TestAPersonDecidesOnThePage(t *testing.T) {
	host, flags := rehearsal.Host(t)
	out := started(t, flags...)
	decide(t, out)
	rehearsal.PaidOnce(t, host, "25")
}

func TestRunsAlone(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("TMPDIR", t.TempDir())
	out := started(t)
	out.find(t, "started a sandbox host")
	decide(t, out)
}

// A name with a point, such as an email, is a name, too.
func TestNamesThatLogIn(t *testing.T) {
	for _, name := range []string{"Zoë", "J. Smith", "ada@example.com", ".", `a"b; c`} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login",
			strings.NewReader(url.Values{"name": {name}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		logIn(w, r)
		next := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/payments/", http.NoBody)
		for _, cookie := range w.Result().Cookies() {
			next.AddCookie(cookie)
		}
		got, err := personOf(next)
		require.NoError(t, err, name)
		assert.Equal(t, name, got)
	}
}

// A name that nobody has logged in with is not a login.
func TestACookieThatSomebodyMade(t *testing.T) {
	for _, value := range []string{"", "Ada", "QWRh", "Ada." + signature("Grace"), "QWRh." + signature("R3JhY2U")} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/payments/", http.NoBody)
		require.NoError(t, err)
		r.AddCookie(&http.Cookie{Name: cookieName, Value: value})
		_, err = personOf(r)
		require.ErrorIs(t, err, errNoLogin)
	}
}
