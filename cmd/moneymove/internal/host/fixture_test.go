package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/host"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// fixture is a person with a sandbox host: the environment names its credentials.
type fixture struct {
	*testing.T
	host   *sandbox.Host
	url    string
	folder string
	env    map[string]string

	// of the next command
	stdin    string
	terminal bool // a person reads the output
	answers  bool // a person answers questions, with stdin
	ctx      context.Context
	out      io.Writer // gets standard output as it comes
	asked    func()    // is called when a person is asked, who does not answer if stdin is empty
}

func newFixture(t *testing.T, options ...sandbox.Option) *fixture {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("HOME", folder)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(folder, "config"))
	t.Setenv("AppData", filepath.Join(folder, "config"))
	served := sandbox.New(append([]sandbox.Option{sandbox.WithInstantProgress()}, options...)...)
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	f := &fixture{T: t, host: served, url: server.URL, folder: folder}
	credentials := served.Credentials()
	key := f.path("developer.pem")
	require.NoError(t, credentials.Key.Save(key))
	f.env = map[string]string{
		target.EnvBaseURL: server.URL, target.EnvEmail: credentials.Email, target.EnvKeyFile: key,
		target.EnvAPIKey: credentials.APIKey.Reveal(), target.EnvAccessToken: credentials.AccessToken.Reveal(),
	}
	return f
}

func (f *fixture) path(name string) string { return filepath.Join(f.folder, name) }

// write writes a file and returns its path.
func (f *fixture) write(name, content string) string {
	f.Helper()
	require.NoError(f, os.WriteFile(f.path(name), []byte(content), 0o600))
	return f.path(name)
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command as the program does.
func (f *fixture) run(args ...string) result {
	f.Helper()
	var stdout, stderr bytes.Buffer
	var in io.Reader = strings.NewReader(f.stdin)
	if f.asked != nil && f.stdin == "" {
		silent, end := io.Pipe()
		defer func() { _ = end.Close() }()
		in = silent
	}
	if f.asked != nil {
		in = readWhenAsked{in, f.asked}
	}
	ctx := f.Context()
	if f.ctx != nil {
		ctx = f.ctx
	}
	var out io.Writer = &stdout
	if f.out != nil {
		out = f.out
	}
	a := &app.App{In: in, Out: out, Err: &stderr, Terminal: f.terminal,
		InTerminal: f.answers, ErrTerminal: f.answers,
		Getenv: func(name string) string { return f.env[name] }}
	root := &cobra.Command{Use: "moneymove"}
	root.AddCommand(host.Commands(a)...)
	code := a.Run(ctx, root, args)
	return result{code, stdout.String(), stderr.String()}
}

// readWhenAsked notes that the command reads what a person types.
type readWhenAsked struct {
	io.Reader
	asked func()
}

func (r readWhenAsked) Read(b []byte) (int, error) {
	r.asked()
	return r.Reader.Read(b)
}

// ok runs a command that must succeed, and returns its output.
func (f *fixture) ok(args ...string) string {
	f.Helper()
	r := f.run(args...)
	require.Equal(f, app.ExitFine, r.code, r.stderr)
	return r.stdout
}

// into runs a command that must succeed, and decodes its JSON.
func (f *fixture) into(v any, args ...string) {
	f.Helper()
	decoder := json.NewDecoder(strings.NewReader(f.ok(append(args, "-o", "json")...)))
	decoder.DisallowUnknownFields()
	require.NoError(f, decoder.Decode(v))
	_, err := decoder.Token()
	require.ErrorIs(f, err, io.EOF, "one value")
}

// anyone is a terminal with a person who types an answer.
func (f *fixture) anyone(answer string) *fixture {
	person := *f
	person.stdin, person.terminal, person.answers = answer+"\n", true, true
	return &person
}

const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"

// funded puts money into the account and returns a contact that can be paid from it.
func (f *fixture) funded() (contact string) {
	f.Helper()
	f.ok("call", "POST", "/dapi/v1/sandbox/deposits", "-key", "deposit", "-d", `{"amount":"90","currency":"USDC"}`)
	var made struct{ ID string }
	require.NoError(f, json.Unmarshal([]byte(f.ok("call", "POST", "/dapi/v1/contacts", "-d",
		`{"name":"W","account":{"accountType":"onchain","walletAddress":"`+wallet+`","chainId":"base",`+
			`"currency":"USDC"}}`)), &made))
	return made.ID
}

// requests counts the requests to a path.
func (f *fixture) requests(method, path string) (count int) {
	for _, request := range f.host.Requests() {
		if request.Method == method && request.Path == path {
			count++
		}
	}
	return count
}
