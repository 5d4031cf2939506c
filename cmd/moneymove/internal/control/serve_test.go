package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// run runs a command line with the commands of this package.
func run(ctx context.Context, a *app.App, args []string) int {
	root := &cobra.Command{Use: "moneymove"}
	root.AddCommand(SandboxCommand(a))
	return a.Run(ctx, root, args)
}

// start runs the sandbox command and returns its output; stop ends it and returns its exit code.
func start(t *testing.T, args ...string) (stdout *bufio.Reader, stop func() int) {
	t.Helper()
	return startWith(t, io.Discard, args...)
}

// startWith is start for a test that reads standard error.
func startWith(t *testing.T, stderr io.Writer, args ...string) (stdout *bufio.Reader, stop func() int) {
	t.Helper()
	return startApp(t, &app.App{Err: stderr, Getenv: os.Getenv}, args...)
}

// startApp is start for a test that chooses the streams, except for the output.
func startApp(t *testing.T, a *app.App, args ...string) (stdout *bufio.Reader, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	a.Out = writer
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, a, append([]string{"sandbox", "-addr", "127.0.0.1:0"}, args...))
		_ = writer.Close()
		ended <- code
	}()
	t.Cleanup(cancel)
	return bufio.NewReader(reader), func() int {
		cancel()
		select {
		case code := <-ended:
			return code
		case <-time.After(time.Minute):
			t.Fatal("the command does not end")
			return -1
		}
	}
}

func announced(t *testing.T, stdout *bufio.Reader) announcement {
	t.Helper()
	line, err := stdout.ReadBytes('\n')
	require.NoError(t, err)
	var a announcement
	require.NoError(t, json.Unmarshal(line, &a), "%s", line)
	return a
}

func TestHostRespondsOnceAnnounced(t *testing.T) {
	stdout, stop := start(t, "-o", "json", "-control", "-email", "dev@example.com")
	a := announced(t, stdout)
	assert.Equal(t, "dev@example.com", a.Email)
	assert.NotEmpty(t, a.APIKey)
	assert.NotEmpty(t, a.AccessToken)
	assert.Equal(t, a.BaseURL+"/_host", a.ControlURL)

	body := strings.NewReader(`{"email":"dev@example.com","requestExpiry":"` + time.Now().Add(time.Minute).UTC().
		Format(time.RFC3339) + `"}`)
	response, err := http.Post(a.BaseURL+"/dapi/v1/auth/challenge", "application/json", body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusCreated, response.StatusCode)

	response, err = http.Get(a.ControlURL + "/settings")
	require.NoError(t, err)
	defer response.Body.Close()
	var settings struct{ RateLimits bool }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&settings))
	assert.False(t, settings.RateLimits, "not counted unless asked for")

	_, err = signing.LoadDeveloperKey(a.KeyFile)
	require.NoError(t, err)
	_, err = wallet.LoadKey(a.WalletKeyFile)
	require.NoError(t, err)
	assert.Equal(t, app.ExitFine, stop())
	assert.NoFileExists(t, a.KeyFile, "what was temporary is gone")
	assert.NoFileExists(t, a.WalletKeyFile)
}

func TestAllowedHostNames(t *testing.T) {
	stdout, stop := start(t, "-o", "json", "-host", "sandbox.internal", "-host", "other.internal")
	a := announced(t, stdout)
	for name, status := range map[string]int{
		"": http.StatusUnauthorized, "localhost": http.StatusUnauthorized, "other.internal:80": http.StatusUnauthorized,
		"rebound.example.com": http.StatusForbidden,
	} {
		request, err := http.NewRequest(http.MethodGet, a.BaseURL+"/dapi/v1/chains", nil)
		require.NoError(t, err)
		request.Host = name
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, status, response.StatusCode, name)
	}
	assert.Equal(t, app.ExitFine, stop())
}

func TestKeyFileIsReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	stdout, stop := start(t, "-o", "json", "-key-file", path)
	a := announced(t, stdout)
	assert.Equal(t, path, a.KeyFile)
	assert.Empty(t, a.ControlURL)
	require.Equal(t, app.ExitFine, stop())

	first, err := os.ReadFile(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	stdout, stop = start(t, "-o", "json", "-key-file", path)
	announced(t, stdout)
	require.Equal(t, app.ExitFine, stop())
	second, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, first, second)
}

func TestReadableAnnouncementHasNoTokens(t *testing.T) {
	stdout, stop := start(t, "-o", "table")
	var text string
	for !strings.Contains(text, "Ctrl-C") {
		line, err := stdout.ReadString('\n')
		require.NoError(t, err)
		text += line
	}
	assert.Equal(t, app.ExitFine, stop())
	assert.Contains(t, text, "http://127.0.0.1:")
	assert.Contains(t, text, "rate limits    off")
	assert.NotContains(t, text, "ak_")
	assert.NotContains(t, text, "uat_")
}

func TestWrongCommandLines(t *testing.T) {
	unreadable := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(unreadable, []byte("no key"), 0o600))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = busy.Close() }()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no command":           {nil, app.ExitUsage, "Usage:"},
		"no such command":      {[]string{"serve"}, app.ExitUsage, `unknown command "serve"`},
		"an empty email":       {[]string{"sandbox", "-email", " "}, app.ExitUsage, "-email is empty"},
		"an empty host name":   {[]string{"sandbox", "-host", ""}, app.ExitUsage, "not a host name"},
		"a URL as a host name": {[]string{"sandbox", "-host", "http://a"}, app.ExitUsage, "not a host name"},
		"no such flag":         {[]string{"sandbox", "-ports", "1"}, app.ExitUsage, "unknown flag"},
		"two app keys": {[]string{"sandbox", "-api-key", "0123456789abcdef", "-api-key-file", "-"}, app.ExitUsage,
			"contradict"},
		"an app key that is short": {[]string{"sandbox", "-addr", "127.0.0.1:0", "-api-key", "short"}, app.ExitUsage,
			"-api-key: the key must have 16 to 128"},
		"a file that is missing": {[]string{"sandbox", "-api-key-file", unreadable + ".none"}, app.ExitUsage,
			"there is no file"},
		"a file as the folder": {[]string{"sandbox", "-addr", "127.0.0.1:0", "-data", unreadable}, app.ExitUsage,
			"is a file: name a folder"},
		"verbose and quiet":      {[]string{"sandbox", "-v", "-q"}, app.ExitUsage, "contradict"},
		"no such form":           {[]string{"sandbox", "-o", "xml"}, app.ExitUsage, "table or json"},
		"an argument":            {[]string{"sandbox", "now"}, app.ExitUsage, `"now"`},
		"controls for everybody": {[]string{"sandbox", "-addr", "0.0.0.0:0", "-control"}, app.ExitUsage, "loopback"},
		"an address that is none": {[]string{"sandbox", "-addr", "nowhere"}, app.ExitUsage,
			`-addr is "nowhere": give an address and a port, such as 127.0.0.1:8080`},
		"a port alone": {[]string{"sandbox", "-addr", "8095"}, app.ExitUsage,
			`-addr is "8095": give an address and a port, such as 127.0.0.1:8095`},
		"a port in use": {[]string{"sandbox", "-addr", busy.Addr().String()}, app.ExitFailure,
			"another program listens at " + busy.Addr().String() + ": stop it, or choose another port with -addr"},
		"a key file that holds none": {[]string{"sandbox", "-addr", "127.0.0.1:0", "-key-file", unreadable},
			app.ExitFailure,
			"moneymove:"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, c.code, run(t.Context(), &app.App{Out: &stdout, Err: &stderr, Getenv: os.Getenv}, c.args))
			assert.Contains(t, stderr.String(), c.says)
			assert.Equal(t, 1, strings.Count(stderr.String(), c.says), "said once")
			assert.Empty(t, stdout.String())
		})
	}
}

// A console that is open holds the end of the host up for no second.
func TestHostStopsWithOpenConsole(t *testing.T) {
	var stderr bytes.Buffer
	stdout, stop := startWith(t, &stderr, "-o", "json", "-control")
	a := announced(t, stdout)
	events, err := http.Get(a.ControlURL + "/events")
	require.NoError(t, err)
	defer events.Body.Close()
	began := time.Now()
	assert.Equal(t, app.ExitFine, stop())
	assert.Less(t, time.Since(began), 2*time.Second)
	assert.Equal(t, "moneymove: stopping\n", stderr.String())
}

// A host that can no longer keep its state ends, with the reason in one sentence.
func TestHostEndsIfStateCannotBeStored(t *testing.T) {
	failed := make(chan error, 1)
	server := httptest.NewServer(endWith(failed, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(fmt.Errorf("store: cannot commit: %w", syscall.ENOSPC))
	})))
	defer server.Close()
	response, err := http.Get(server.URL)
	if err == nil {
		_ = response.Body.Close()
	}
	require.Error(t, err)
	assert.EqualError(t, <-failed, "the host ends, because it cannot keep its state: store: cannot commit: "+
		syscall.ENOSPC.Error()+". It has kept what it responded to before: make room, and start it again")
}

func TestInstantProgress(t *testing.T) {
	stdout, stop := start(t, "-o", "json", "-control", "-instant")
	a := announced(t, stdout)
	response, err := http.Get(a.ControlURL + "/settings")
	require.NoError(t, err)
	defer response.Body.Close()
	var settings struct{ ClientReadyAfter, PayoutStepAfter string }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&settings))
	assert.Equal(t, "0s", settings.ClientReadyAfter)
	assert.Equal(t, "0s", settings.PayoutStepAfter)
	assert.Equal(t, app.ExitFine, stop())
}

func TestHelpExitsWithZero(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := &app.App{Out: &stdout, Err: &stderr, Getenv: os.Getenv}
	assert.Equal(t, app.ExitFine, run(t.Context(), a, []string{"help"}))
	assert.Contains(t, stdout.String(), "sandbox")
	assert.Equal(t, app.ExitFine, run(t.Context(), a, []string{"sandbox", "-h"}))
	assert.Contains(t, stdout.String(), "-key-file")
}

// FuzzCommandLine: arguments, one a line, are flags that say the same when they are written out, a call for help, or a
// wrong command line that is explained.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{
		"", "-h", "--help", "-addr\n127.0.0.1:0\n-o\njson", "-addr=:0\n-control=false", "-control=maybe", "-email",
		"-email=\n-key-file=a b", "-host=\n-instant", "-host=http://a", "now", "--", "--\n-control",
		"-rate-limits=0\n-rate-limits=T", "-", "-=", "---control", "-addr=a\x00\xff", "-vq", "-v\n-q=false",
		"-key-file\n-addr", "-data\nfolder\n-seed\n-api-key=0123456789abcdef", "-api-key=k\n-api-key-file\n-",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, code, says := parsed(t, strings.Split(line, "\n"))
		if o == nil {
			if code == app.ExitUsage && says == "" || code != app.ExitUsage && code != app.ExitFine {
				t.Fatalf("%q ends with %d and %q", line, code, says)
			}
			return
		}
		again := []string{"-addr=" + o.addr, "-key-file", o.keyFile, "-data", o.data, "-api-key=" + o.apiKey,
			"-api-key-file", o.apiKeyFile}
		flags := map[string]bool{"control": o.control, "instant": o.instant, "seed": o.seed, "verbose": o.verbose,
			"quiet": o.quiet}
		if o.rateLimits != nil {
			flags["rate-limits"] = *o.rateLimits
		}
		for name, set := range flags {
			again = append(again, map[bool]string{true: "-" + name, false: "-" + name + "=false"}[set])
		}
		if o.email != "" {
			again = append(again, "-email="+o.email)
		}
		for _, host := range o.hosts {
			again = append(again, "-host", host)
		}
		if same, _, says := parsed(t, again); !reflect.DeepEqual(same, o) {
			t.Fatalf("%q is %+v, and %q is %+v: %s", line, o, again, same, says)
		}
	})
}

// parsed returns the flags that a command line gives, or nil, and what the command ends with and says.
func parsed(t *testing.T, args []string) (given *options, code int, says string) {
	var out, err bytes.Buffer
	a := &app.App{In: strings.NewReader(""), Out: &out, Err: &err, Getenv: func(string) string { return "" }}
	root := &cobra.Command{Use: "moneymove"}
	root.AddCommand(newCommand(func(_ context.Context, o options) error {
		given = &o
		return nil
	}))
	code = a.Run(t.Context(), root, append([]string{"sandbox"}, args...))
	return given, code, err.String()
}
