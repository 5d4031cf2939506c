package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/host"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
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
		client.EnvBaseURL: server.URL, client.EnvEmail: credentials.Email, client.EnvKeyFile: key,
		client.EnvAPIKey: credentials.APIKey.Reveal(), client.EnvAccessToken: credentials.AccessToken.Reveal(),
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

type session struct {
	URL, Email, File string
	ExpiresAt        time.Time
	RefreshExpiresAt time.Time
	Removed          bool
}

func TestLoginKeepsASession(t *testing.T) {
	f := newFixture(t)
	var first, second session
	f.into(&first, "login")
	assert.Equal(t, f.url, first.URL)
	assert.Equal(t, f.env[client.EnvEmail], first.Email)
	assert.WithinDuration(t, time.Now().Add(time.Hour), first.ExpiresAt, time.Minute)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(first.File)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	f.ok("call", "GET", "/dapi/v1/chains")
	f.ok("call", "GET", "/dapi/v1/chains")
	assert.Equal(t, 1, f.requests("POST", "/dapi/v1/auth/token"), "the commands share the session")
	f.into(&second, "login")
	assert.Equal(t, 2, f.requests("POST", "/dapi/v1/auth/token"), "login always logs in")
	assert.Equal(t, first.File, second.File)

	var removed session
	f.into(&removed, "logout")
	assert.True(t, removed.Removed)
	assert.NoFileExists(t, first.File)
	assert.Contains(t, f.ok("logout", "-o", "table"), "there was no session")

	elsewhere := f.path("session")
	f.into(&first, "login", "-session", elsewhere)
	assert.Equal(t, elsewhere, first.File)
	assert.FileExists(t, elsewhere)
}

// A login is made only if its session can be kept, and nothing is lost for it: neither a link nor what is in the file.
func TestLoginAndLogoutKeepOtherFiles(t *testing.T) {
	f := newFixture(t)
	notes := f.write("notes", "of great worth")
	for name, path := range map[string]string{
		"a file of something else": notes, "no such folder": f.path("none/session"), "a folder": f.folder,
	} {
		t.Run(name, func(t *testing.T) {
			f := *f
			f.T = t
			r := f.run("login", "-session", path)
			assert.NotEqual(t, app.ExitFine, r.code)
			assert.Contains(t, r.stderr, filepath.Dir(path))
			assert.NotContains(t, r.stderr, "warning")
			assert.Zero(t, f.requests("POST", "/dapi/v1/auth/token"), "no login is made that cannot be kept")
			if name != "no such folder" {
				assert.NotEqual(t, app.ExitFine, f.run("logout", "-session", path).code)
			}
		})
	}
	content, err := os.ReadFile(notes)
	require.NoError(t, err)
	assert.Equal(t, "of great worth", string(content))
	if runtime.GOOS == "windows" {
		return
	}

	link := f.path("session")
	target := f.write("target", "")
	require.NoError(t, os.Symlink(target, link))
	f.ok("login", "-session", link)
	f.ok("login", "-session", link)
	kept, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Contains(t, string(kept), "at_")
	var removed session
	f.into(&removed, "logout", "-session", link)
	assert.True(t, removed.Removed)
	leads, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, target, leads)
	kept, err = os.ReadFile(target)
	require.NoError(t, err)
	assert.NotContains(t, string(kept), "at_", "neither of the two sessions")
	f.ok("login", "-session", link)
}

func TestALoginThatIsRefused(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	f := newFixture(t)
	other, err := signing.Generate()
	require.NoError(t, err)
	require.NoError(t, other.Save(f.path("other.pem")))
	r := f.run("login", "-key-file", f.path("other.pem"))
	assert.Equal(t, app.ExitRefused, r.code)
	assert.Contains(t, r.stderr, "key_not_registered")
	assert.Contains(t, r.stderr, "docs/errors.md#key_not_registered")
	assert.Empty(t, r.stdout)

	r = f.run("login", "-url", "http://127.0.0.1:1", "-session", f.path("session"))
	assert.Equal(t, app.ExitUnreachable, r.code, r.stderr)
	assert.NoFileExists(t, f.path("session"))
}

func TestAnEncryptedKeyNeedsItsPassphrase(t *testing.T) {
	f := newFixture(t)
	require.NoError(t, f.host.Credentials().Key.SaveEncrypted(f.path("locked.pem"), []byte("open sesame")))
	r := f.run("login", "-key-file", f.path("locked.pem"))
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "-passphrase-file")
	f.stdin = "open sesame\n"
	f.ok("login", "-key-file", f.path("locked.pem"), "-passphrase-file", "-")
	r = f.run("login", "-key-file", f.path("locked.pem"), "-passphrase-file", f.write("wrong", "sesame"))
	assert.Equal(t, app.ExitUsage, r.code)
	assert.NotContains(t, r.stderr, "sesame")
}

func TestTokenPrintsATokenThatWorks(t *testing.T) {
	f := newFixture(t)
	token := f.ok("token")
	assert.Regexp(t, `^at_\S+\n$`, token)
	assert.Equal(t, token, f.ok("token"), "as long as it is valid")
	f.host.Arm("GET", "/dapi/v1/chains", sandbox.ExpireToken())
	assert.NotEqual(t, token, f.ok("token"), "the host does not accept the old one")

	r := f.anyone("").run("token")
	assert.Equal(t, app.ExitFine, r.code)
	assert.Contains(t, r.stderr, "a secret")

	path := f.write("token", "an older one that is longer than any token, so that a part of it would stay behind......")
	require.NoError(t, os.Chmod(path, 0o644))
	assert.Empty(t, f.ok("token", "-to", path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, f.ok("token"), string(content))
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	link, nowhere := f.path("link"), f.path("nowhere")
	require.NoError(t, os.Symlink(path, link))
	f.ok("token", "-to", link)
	leads, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, path, leads, "a link is not replaced")
	require.NoError(t, os.Symlink(f.path("none"), nowhere))
	pipe := f.path("pipe")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", pipe).Run())
	for _, other := range []string{nowhere, pipe, f.folder} {
		r := f.run("token", "-to", other)
		assert.NotEqual(t, app.ExitFine, r.code)
		assert.NotContains(t, r.stdout+r.stderr, "at_")
	}
}

func TestTheTokenOfAnotherHostIsNotPrinted(t *testing.T) {
	f := newFixture(t)
	r := f.run("token", "-url", "https://host.example")
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "-to FILE")
	assert.Empty(t, r.stdout)
	assert.Zero(t, f.requests("POST", "/dapi/v1/auth/challenge"))
	assert.NotContains(t, r.stderr, "at_")
}
