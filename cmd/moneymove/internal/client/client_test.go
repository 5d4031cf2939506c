package client_test

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// fixture is a host, with the environment and the files that name its credentials.
type fixture struct {
	host   *sandbox.Host
	env    map[string]string
	folder string
	stderr bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{host: sandbox.New(), folder: t.TempDir()}
	t.Setenv("HOME", f.folder)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(f.folder, "config"))
	t.Setenv("AppData", filepath.Join(f.folder, "config"))
	server := httptest.NewServer(f.host)
	t.Cleanup(server.Close)
	credentials := f.host.Credentials()
	key := filepath.Join(f.folder, "developer.pem")
	require.NoError(t, credentials.Key.Save(key))
	f.env = map[string]string{
		client.EnvBaseURL: server.URL, client.EnvEmail: credentials.Email, client.EnvKeyFile: key,
		client.EnvAPIKey: credentials.APIKey.Reveal(), client.EnvAccessToken: credentials.AccessToken.Reveal(),
	}
	return f
}

// target returns the target of a command line.
func (f *fixture) target(t *testing.T, stdin string, args ...string) *client.Target {
	t.Helper()
	built := client.New(&app.App{In: strings.NewReader(stdin), Out: &f.stderr, Err: &f.stderr,
		Getenv: func(name string) string { return f.env[name] }})
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	built.AllFlags(flags)
	require.NoError(t, flags.Parse(args))
	return built
}

// logins counts how many sessions the host has started.
func (f *fixture) logins() (count int) {
	for _, request := range f.host.Requests() {
		if request.Path == "/dapi/v1/auth/token" {
			count++
		}
	}
	return count
}

func TestASessionIsKeptForTheNextCommand(t *testing.T) {
	f := newFixture(t)
	first, err := f.target(t, "").Session(t.Context())
	require.NoError(t, err)
	assert.True(t, first.Renewed)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(first.File)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		folder, err := os.Stat(filepath.Dir(first.File))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	}
	second, err := f.target(t, "").Session(t.Context())
	require.NoError(t, err)
	assert.False(t, second.Renewed)
	assert.True(t, first.AccessToken.Equal(second.AccessToken))
	assert.Equal(t, 1, f.logins())

	third, err := f.target(t, "").LogIn(t.Context())
	require.NoError(t, err)
	assert.True(t, third.Renewed)
	assert.False(t, first.AccessToken.Equal(third.AccessToken))
	assert.Equal(t, 2, f.logins())

	file, was, err := f.target(t, "").Forget(t.Context())
	require.NoError(t, err)
	assert.True(t, was)
	assert.NoFileExists(t, file)
	_, was, err = f.target(t, "").Forget(t.Context())
	require.NoError(t, err)
	assert.False(t, was)
}

func TestASessionThatTheHostForgotIsRenewed(t *testing.T) {
	f := newFixture(t)
	first, err := f.target(t, "").Session(t.Context())
	require.NoError(t, err)
	f.host.Reset()
	second, err := f.target(t, "").Session(t.Context())
	require.NoError(t, err)
	assert.True(t, second.Renewed)
	assert.False(t, first.AccessToken.Equal(second.AccessToken))
}

func TestKeyWithoutReadScopeHasSession(t *testing.T) {
	f := newFixture(t)
	key, err := signing.Generate()
	require.NoError(t, err)
	_, err = f.host.RegisterKey(sandbox.KeyRegistration{Email: f.env[client.EnvEmail],
		PublicKey: key.PublicKey(), Scopes: []string{"payouts:write"}})
	require.NoError(t, err)
	path := filepath.Join(f.folder, "narrow.pem")
	require.NoError(t, key.Save(path))
	session, err := f.target(t, "", "--key-file", path).LogIn(t.Context())
	require.NoError(t, err)
	assert.False(t, session.AccessToken.IsZero())
}

func TestTwoKeysDoNotShareASession(t *testing.T) {
	f := newFixture(t)
	first, err := f.target(t, "").Session(t.Context())
	require.NoError(t, err)
	f.env[client.EnvEmail] = "other@example.com"
	kept, err := f.target(t, "").KeptSession(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, first.File, kept.File)
	kept, err = f.target(t, "", "--session", first.File).KeptSession(t.Context())
	require.NoError(t, err)
	assert.True(t, kept.AccessToken.IsZero(), "the session of another credential is not used")
}

func TestUnwritableSessionFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs modes of files, which Windows does not have; make test runs it on Unix")
	}
	f := newFixture(t)
	path := filepath.Join(f.folder, "session")
	require.NoError(t, os.Mkdir(path, 0o700)) // no file can be here
	_, err := f.target(t, "", "--session", path).LogIn(t.Context())
	require.Error(t, err)
	assert.Empty(t, f.stderr.String())
	_, err = f.target(t, "", "--session", path).Session(t.Context())
	require.NoError(t, err, "other commands work without")
	assert.Contains(t, f.stderr.String(), "the session is not kept")
}

func TestSecretsComeByFileInputOrEnvironment(t *testing.T) {
	f := newFixture(t)
	byEnvironment, err := f.target(t, "").APIKey()
	require.NoError(t, err)
	assert.Equal(t, f.env[client.EnvAPIKey], byEnvironment.Reveal())

	byInput, err := f.target(t, " ak_input\n", "--api-key-file", "-").APIKey()
	require.NoError(t, err)
	assert.Equal(t, "ak_input", byInput.Reveal())

	path := filepath.Join(f.folder, "token")
	require.NoError(t, os.WriteFile(path, []byte("uat_file\r\n"), 0o600))
	byFile, err := f.target(t, "", "--access-token-file", path).AccessToken()
	require.NoError(t, err)
	assert.Equal(t, "uat_file", byFile.Reveal())

	both := f.target(t, "once", "--api-key-file", "-", "--access-token-file", "-")
	_, err = both.APIKey()
	require.NoError(t, err)
	_, err = both.APIKey()
	require.NoError(t, err, "it is read once")
	_, err = both.AccessToken()
	require.ErrorContains(t, err, "both read standard input")

	_, err = f.target(t, "\n", "--api-key-file", "-").APIKey()
	require.ErrorContains(t, err, "is empty")
}

func TestMissingSettingsAreNamed(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		without string
		args    []string
		says    string
	}{
		"the address":          {client.EnvBaseURL, nil, "set " + client.EnvBaseURL},
		"the email":            {client.EnvEmail, nil, "-email is missing"},
		"the key":              {client.EnvKeyFile, nil, "-key-file is missing"},
		"no such key":          {"", []string{"--key-file", "nowhere.pem"}, "there is no file nowhere.pem"},
		"plain http":           {"", []string{"--url", "http://example.com"}, "must be https"},
		"no client's id":       {"", []string{"--as", "acme"}, "begins with cl_"},
		"a client of an owner": {"", []string{"--as", "cl_1", "--self-serve"}, "-self-serve has no clients"},
	} {
		t.Run(name, func(t *testing.T) {
			before := f.env[c.without]
			delete(f.env, c.without)
			_, err := f.target(t, "", c.args...).Account()
			require.ErrorContains(t, err, c.says)
			assert.Equal(t, app.ExitUsage, app.ExitCode(err))
			f.env[c.without] = before
		})
	}
}

func TestServicesOfEachProduct(t *testing.T) {
	f := newFixture(t)
	own, err := f.target(t, "", "--self-serve").Account()
	require.NoError(t, err)
	assert.NotNil(t, own.Payouts)
	assert.Nil(t, own.Rails)
	acting, err := f.target(t, "", "--as", "cl_1").Account()
	require.NoError(t, err)
	assert.NotNil(t, acting.Rails)
	_, err = f.target(t, "", "--self-serve").Integrator()
	require.ErrorContains(t, err, "has no clients")
}

func TestLoopback(t *testing.T) {
	f := newFixture(t)
	for address, local := range map[string]bool{
		"": true, "http://localhost:1": true, "http://[::1]:8080": true, "https://host.example": false, "nothing": false,
		"https://x.localhost:1": false, "https://127.0.0.1.example": false,
	} {
		args := []string{"--url", address}
		if address == "" {
			args = nil
		}
		assert.Equal(t, local, f.target(t, "", args...).Loopback(), address)
	}
}

func TestOperationsAreThoseOfTheDescriptions(t *testing.T) {
	all, err := client.All()
	require.NoError(t, err)
	counts := map[client.Surface]int{}
	keyed := map[string]bool{}
	for _, o := range all {
		counts[o.Surface]++
		assert.NotEmpty(t, o.ID)
		if o.Keyed == client.ByKey {
			keyed[o.ID] = true
			assert.True(t, o.TakesKey, o.ID)
		}
	}
	for _, surface := range []client.Surface{
		client.Platform, client.App, client.Reference, client.Public,
	} {
		assert.Positive(t, counts[surface], surface)
	}
	assert.Equal(t, map[string]bool{
		"BookPayout": true, "CreateEscrow": true, "PrepareEscrowAction": true, "CreateDeposit": true,
		"CompletePayin": true, "MovePayout": true, "CreateTransfer": true,
	}, keyed)
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		method, path, operation string
		surface                 client.Surface
		open                    bool
	}{
		{"POST", "/dapi/v1/payouts", "BookPayout", client.Platform, false},
		{"POST", "/dapi/v1/payouts/po_1/confirm", "ConfirmPayout", client.Platform, false},
		{"POST", "/dapi/v1/auth/challenge", "CreateChallenge", client.Platform, true},
		{"GET", "/user", "GetProfile", client.App, false},
		{"GET", "/banks", "ListBanks", client.App, false},
		{"GET", "/dapi/v1/banks", "ListRails", client.Platform, false},
		{"GET", "/documents/contracts/invoices", "ListInvoices", client.App, false},
		{"GET", "/api/v1/accounts/cards", "ListCards", client.Reference, false},
		{"GET", "/utils/rates/EUR", "GetRate", client.Public, true},
	} {
		found, ok, err := client.Find(c.method, c.path)
		require.NoError(t, err)
		require.True(t, ok, c.path)
		assert.Equal(t, c.operation, found.ID, c.path)
		assert.Equal(t, c.surface, found.Surface, c.path)
		assert.Equal(t, c.surface, client.SurfaceOf(c.path), c.path)
		assert.Equal(t, c.open, found.Open || found.Surface == client.Public, c.path)
	}
	for _, path := range []string{"/dapi/v1/payouts/", "/nowhere", "/dapi/v1/clients//", "/dapi/v1"} {
		_, ok, err := client.Find("GET", path)
		require.NoError(t, err)
		assert.False(t, ok, path)
	}
}
