package control

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// env runs the command env for the controls at an address.
func env(t *testing.T, controlURL string, args ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app.App{Out: &stdout, Err: &stderr, Getenv: func(name string) string {
		return map[string]string{"MONEYMOVE_CONTROL_URL": controlURL}[name]
	}}
	code = run(t.Context(), a, append([]string{"sandbox", "env"}, args...))
	return code, stdout.String(), stderr.String()
}

// shellEnvironment returns the variables of the service after a shell has run some commands.
func shellEnvironment(t *testing.T, commands string) map[string]string {
	t.Helper()
	testkit.Long(t, "starts a shell")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs the program sh, to read what env prints; make check runs it on Unix")
	}
	process := exec.CommandContext(t.Context(), shell, "-eu", "-c", commands+"\nenv -0")
	process.Env = []string{"PATH=" + os.Getenv("PATH"), "MONEYMOVEMENT_CLIENT=cl_of_an_earlier_host"}
	text, err := process.Output()
	require.NoError(t, err)
	found := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\x00") {
		if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, "MONEYMOVE") {
			found[name] = value
		}
	}
	return found
}

// Without an address of the controls, env asks the host that the other commands call.
func TestEnvAsksHostOfBaseURL(t *testing.T) {
	stdout, stop := start(t, "-o", "json", "-control")
	a := announced(t, stdout)
	for name, c := range map[string]struct {
		env  map[string]string
		code int
	}{
		"the host": {map[string]string{"MONEYMOVEMENT_BASE_URL": a.BaseURL}, app.ExitFine},
		"the controls come first": {map[string]string{"MONEYMOVEMENT_BASE_URL": "http://127.0.0.1:1",
			"MONEYMOVE_CONTROL_URL": a.ControlURL}, app.ExitFine},
		"another host": {map[string]string{"MONEYMOVEMENT_BASE_URL": "http://127.0.0.1:1"}, app.ExitUnreachable},
	} {
		var stdout, stderr bytes.Buffer
		made := &app.App{Out: &stdout, Err: &stderr, Getenv: func(name string) string { return c.env[name] }}
		assert.Equal(t, c.code, run(t.Context(), made, []string{"sandbox", "env", "-key-dir", t.TempDir()}), name)
	}
	assert.Equal(t, app.ExitFine, stop())
}

func TestEnvOfRunningHost(t *testing.T) {
	stdout, stop := start(t, "-o", "json", "-control", "-seed", "-instant")
	a := announced(t, stdout)
	folder := filepath.Join(t.TempDir(), "it's a folder")
	code, out, problems := env(t, a.ControlURL, "-key-dir", folder)
	require.Equal(t, app.ExitFine, code, problems)
	want := map[string]string{
		"MONEYMOVEMENT_BASE_URL": a.BaseURL, "MONEYMOVEMENT_EMAIL": "ops@example.com",
		"MONEYMOVEMENT_KEY_FILE": filepath.Join(folder, "developer.pem"), "MONEYMOVEMENT_API_KEY": a.APIKey,
		"MONEYMOVEMENT_ACCESS_TOKEN": a.AccessToken, "MONEYMOVEMENT_CLIENT": string(a.Seeded.Client),
		"MONEYMOVEMENT_WALLET_KEY_FILE": filepath.Join(folder, "wallet.pem"), "MONEYMOVE_CONTROL_URL": a.ControlURL,
	}
	assert.Equal(t, want, shellEnvironment(t, out))
	code, out, _ = env(t, a.ControlURL, "-key-dir", folder, "-o", "json")
	require.Equal(t, app.ExitFine, code)
	var asJSON map[string]string
	require.NoError(t, json.Unmarshal([]byte(out), &asJSON))
	assert.Equal(t, want, asJSON)

	key, err := signing.LoadDeveloperKey(want["MONEYMOVEMENT_KEY_FILE"])
	require.NoError(t, err)
	same, err := signing.LoadDeveloperKey(a.KeyFile)
	require.NoError(t, err)
	assert.Equal(t, same.PublicKey(), key.PublicKey())
	_, err = wallet.LoadKey(want["MONEYMOVEMENT_WALLET_KEY_FILE"])
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{folder: 0o700, want["MONEYMOVEMENT_KEY_FILE"]: 0o600,
			want["MONEYMOVEMENT_WALLET_KEY_FILE"]: 0o600} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, mode, info.Mode().Perm(), path)
		}
	}
	require.Equal(t, app.ExitFine, stop())

	// The next host has no client: the one of the earlier host must not stay in the shell.
	stdout, stop = start(t, "-o", "json", "-control")
	code, out, _ = env(t, announced(t, stdout).ControlURL, "-key-dir", folder)
	require.Equal(t, app.ExitFine, code)
	assert.NotContains(t, shellEnvironment(t, out), "MONEYMOVEMENT_CLIENT")
	require.Equal(t, app.ExitFine, stop())
}

func TestTheKeysAreInTheCacheByDefault(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("LocalAppData", cache)
	folder, err := keyFolder("", "[::1]:8080")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(folder, cache), folder)
	assert.Equal(t, "--1-8080", filepath.Base(folder))
	assert.DirExists(t, folder)
}

func TestWordsOfEachShell(t *testing.T) {
	hostile := variables{{"A", `it's "$(x)" \'`}, {"B", ""}}
	for shell, want := range map[string]string{
		"sh":         `export A='it'\''s "$(x)" \'\'''` + "\nunset B\n",
		"fish":       `set -gx A 'it\'s "$(x)" \\\''` + "\nset -e B\n",
		"powershell": `$env:A = 'it''s "$(x)" \'''` + "\nRemove-Item Env:B -ErrorAction SilentlyContinue\n",
	} {
		var out strings.Builder
		require.NoError(t, shells[shell].write(&out, hostile))
		assert.Equal(t, want, out.String())
	}
	assert.Equal(t, `it's "$(x)" \'`, shellEnvironment(t, "export MONEYMOVE_A="+
		shells["sh"].word(`it's "$(x)" \'`))["MONEYMOVE_A"])
}

func TestEnvRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		controls string
		args     []string
		code     int
		says     string
	}{
		"another machine": {"https://money.example.com/_host", nil, app.ExitUsage, "another machine are not printed"},
		"a name below":    {"http://x.localhost:1/_host", nil, app.ExitUsage, "another machine are not printed"},
		"no controls":     {"http://127.0.0.1:1", nil, app.ExitUsage, "must end with /_host"},
		"no host":         {"http://127.0.0.1:1/_host", nil, app.ExitUnreachable, "moneymove sandbox -control"},
		"no such shell":   {"http://127.0.0.1:1/_host", []string{"-shell", "cmd"}, app.ExitUsage, "fish or powershell"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, problems := env(t, c.controls, append(c.args, "-key-dir", t.TempDir())...)
			assert.Equal(t, c.code, code)
			assert.Contains(t, problems, c.says)
			assert.Empty(t, out)
		})
	}
	stdout, stop := start(t, "-o", "json")
	code, out, problems := env(t, announced(t, stdout).BaseURL+"/_host", "-key-dir", t.TempDir())
	assert.Equal(t, app.ExitUnreachable, code)
	assert.Contains(t, problems, "start it with -control")
	assert.Empty(t, out)
	assert.Equal(t, app.ExitFine, stop())
}
