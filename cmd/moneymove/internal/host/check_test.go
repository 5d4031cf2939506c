package host_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/host"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// checkFixture is a sandbox host behind a change of its responses, and the environment that names it.
type checkFixture struct {
	host        *sandbox.Host
	env         map[string]string
	stdout, err bytes.Buffer
}

// change may answer itself, or leave it to the host.
type change func(host http.Handler, w http.ResponseWriter, r *http.Request)

func newCheckFixture(t *testing.T, change change) *checkFixture {
	t.Helper()
	f := &checkFixture{host: sandbox.New(sandbox.WithResponseValidation(func(operation string, err error) {
		t.Errorf("%s: %v", operation, err)
	}))}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change == nil {
			f.host.ServeHTTP(w, r)
			return
		}
		change(f.host, w, r)
	}))
	t.Cleanup(server.Close)
	credentials := f.host.Credentials()
	key := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, credentials.Key.Save(key))
	f.env = map[string]string{
		client.EnvBaseURL: server.URL, client.EnvEmail: credentials.Email, client.EnvKeyFile: key,
		client.EnvAPIKey: credentials.APIKey.Reveal(), client.EnvAccessToken: credentials.AccessToken.Reveal(),
	}
	t.Setenv("HOME", t.TempDir()) // nothing is kept there
	t.Setenv("XDG_CONFIG_HOME", "")
	return f
}

func (f *checkFixture) run(t *testing.T, args ...string) (code int) {
	t.Helper()
	f.stdout.Reset()
	f.err.Reset()
	a := &app.App{Out: &f.stdout, Err: &f.err, Getenv: func(name string) string { return f.env[name] }}
	root := &cobra.Command{Use: "moneymove"}
	root.AddCommand(host.Commands(a)...)
	return a.Run(t.Context(), root, append([]string{"check"}, args...))
}

// checkOutcome is the part of report.json that a script would read.
type checkOutcome struct {
	Host     string `json:"host"`
	ReadOnly bool   `json:"readOnly"`
	Summary  struct {
		Operations              struct{ Seen, Of int }
		Confirmed, Contradicted int
		Deviations              int
	} `json:"summary"`
	Assumptions []struct{ File, Where, Position, Verdict, Edit string }
}

func (f *checkFixture) report(t *testing.T) (o checkOutcome) {
	t.Helper()
	require.NoError(t, json.Unmarshal(f.stdout.Bytes(), &o), "%s", f.stdout.String())
	return o
}

func TestASandboxHostIsConfirmed(t *testing.T) {
	f := newCheckFixture(t, nil)
	require.Equal(t, app.ExitFine, f.run(t), "%s", f.err.String())
	o := f.report(t)
	assert.Equal(t, f.env[client.EnvBaseURL], o.Host)
	assert.True(t, o.ReadOnly)
	assert.Greater(t, o.Summary.Operations.Seen, 20)
	assert.Greater(t, o.Summary.Confirmed, 100)
	assert.Zero(t, o.Summary.Contradicted)
	assert.Zero(t, o.Summary.Deviations)
	for _, r := range f.host.Requests() {
		assert.True(t, r.Method == http.MethodGet || strings.HasPrefix(r.Path, "/dapi/v1/auth/"), "%s %s", r.Method,
			r.Path)
	}
	for name, secret := range f.env {
		if name == client.EnvAPIKey || name == client.EnvAccessToken {
			assert.NotContains(t, f.stdout.String(), secret)
		}
	}
}

func TestCheckWritesFiles(t *testing.T) {
	f := newCheckFixture(t, nil)
	folder := filepath.Join(t.TempDir(), "new", "report")
	require.Equal(t, app.ExitFine, f.run(t, "-o", "table", "-v", "-report", folder), "%s", f.err.String())
	summary, err := os.ReadFile(filepath.Join(folder, "summary.txt"))
	require.NoError(t, err)
	assert.Equal(t, string(summary), f.stdout.String())
	assert.Regexp(t, `(?m)^Assumptions +\d+  confirmed, 0 contradicted, \d+ open, of \d+$`, f.stdout.String())
	assert.Contains(t, f.err.String(), "passed  dapi ListChains\n")
	whole, err := os.ReadFile(filepath.Join(folder, "report.json"))
	require.NoError(t, err)
	assert.True(t, json.Valid(whole))
}

// renamed spells a member otherwise in the responses to one path.
func renamed(path, from, to string) change {
	return func(host http.Handler, w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, r)
		body := recorder.Body.String()
		if strings.HasPrefix(r.URL.Path, path) {
			body = strings.ReplaceAll(body, `"`+from+`":`, `"`+to+`":`)
		}
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(recorder.Code)
		_, _ = io.WriteString(w, body)
	}
}

// A host that differs ends in exit code 7, with the line to edit and the edit.
func TestDifferingHostIsContradicted(t *testing.T) {
	f := newCheckFixture(t, renamed("/dapi/v1/chains", "code", `slug\u001b[2J`))
	require.Equal(t, app.ExitOtherwise, f.run(t))
	assert.Contains(t, f.err.String(), "assumptions contradicted: 1,")
	o := f.report(t)
	assert.Equal(t, 1, o.Summary.Contradicted)
	for _, a := range o.Assumptions {
		if a.Verdict != "contradicted" {
			assert.Empty(t, a.Edit)
			continue
		}
		assert.Equal(t, "Chain.code", a.Where)
		assert.Equal(t, "take `code` out of `required`", a.Edit)
		assert.Regexp(t, `^openapi/dapi\.yaml:\d+$`, a.Position)
	}

	require.Equal(t, app.ExitOtherwise, f.run(t, "-o", "table"))
	assert.Regexp(t, "(?m)^  line:    openapi/dapi\\.yaml:\\d+$", f.stdout.String())
	assert.Contains(t, f.stdout.String(), "\n  edit:    take `code` out of `required`\n")
	assert.NotContains(t, f.stdout.String(), "\x1b", "what the host sends does not move the cursor")
}

// A host that carries out what it should refuse is found out as well.
func TestHostThatAcceptsAnyCredential(t *testing.T) {
	var token string
	f := newCheckFixture(t, func(host http.Handler, w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dapi/v1/") && !strings.Contains(r.URL.Path, "/auth/") {
			if r.URL.Path == "/dapi/v1/sandbox/treasury" {
				token = r.Header.Get("Authorization")
			}
			r.Header.Set("Authorization", token)
		}
		host.ServeHTTP(w, r)
	})
	require.Equal(t, app.ExitOtherwise, f.run(t, "-o", "table"))
	assert.Contains(t, f.stdout.String(), "FAILED  refusals unauthenticated: the host responded 200, and should refuse")
}

func TestProductionHostNeedsPermission(t *testing.T) {
	f := newCheckFixture(t, func(host http.Handler, w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dapi/v1/sandbox/") {
			http.NotFound(w, r)
			return
		}
		host.ServeHTTP(w, r)
	})
	require.Equal(t, app.ExitDecision, f.run(t))
	assert.Contains(t, f.err.String(), "give -production")
	assert.Empty(t, f.stdout.String())
	for _, r := range f.host.Requests() {
		assert.Contains(t, r.Path, "/auth/")
	}
	f.run(t, "-production")
	assert.Greater(t, f.report(t).Summary.Operations.Seen, 15)
}

// A challenge that is an approval is not signed, whatever the check may read.
func TestAnApprovalIsNotSignedAsALogin(t *testing.T) {
	approval := `{"account":"self","amount":"1000000","approvalId":"ap_1","currency":"USDC","operation":"payout.fund"}`
	f := newCheckFixture(t, func(host http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/dapi/v1/auth/challenge" {
			host.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"challengeId":"ch_1","payload":"`+
			base64.StdEncoding.EncodeToString([]byte(approval))+`","expiresAt":"2030-01-01T00:00:00Z"}`)
	})
	for _, args := range [][]string{nil, {"-production"}} {
		assert.Equal(t, app.ExitDecision, f.run(t, args...), "%s", f.err.String())
		assert.Contains(t, f.err.String(), "it has an approvalId")
		assert.Empty(t, f.stdout.String())
		assert.Empty(t, f.host.Requests(), "no signature is sent")
	}
}

func TestCheckFailures(t *testing.T) {
	f := newCheckFixture(t, nil)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, c := range map[string]struct {
		variable, value string
		args            []string
		code            int
		says            string
	}{
		"no host":         {client.EnvBaseURL, "", nil, app.ExitUsage, "-url is missing"},
		"no key":          {client.EnvKeyFile, "", nil, app.ExitUsage, "give -key-file and -email, or -production"},
		"no id":           {"", "", []string{"-id", "po_1"}, app.ExitUsage, "payoutId=po_1"},
		"a wrong form":    {"", "", []string{"-o", "xml"}, app.ExitUsage, "table or json"},
		"nobody there":    {client.EnvBaseURL, closed.URL, nil, app.ExitUnreachable, "no response to POST"},
		"another account": {client.EnvEmail, "nobody@example.com", nil, app.ExitRefused, "401 invalid_credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			before := f.env[c.variable]
			f.env[c.variable] = c.value
			defer func() { f.env[c.variable] = before }()
			assert.Equal(t, c.code, f.run(t, c.args...), "%s", f.err.String())
			assert.Contains(t, f.err.String(), c.says)
			assert.Empty(t, f.stdout.String())
		})
	}
}

// A client's own things are read if it is named.
func TestCheckOnBehalfOfClient(t *testing.T) {
	f := newCheckFixture(t, nil)
	require.Equal(t, app.ExitFine, f.run(t, "-o", "table", "-as", "cl_unknown"), "%s", f.stdout.String())
	named := false
	for _, r := range f.host.Requests() {
		named = named || r.Path == "/dapi/v1/client/kyb" || strings.HasSuffix(r.Path, "/clients/cl_unknown")
	}
	assert.True(t, named)
}
