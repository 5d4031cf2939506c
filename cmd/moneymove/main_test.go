package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

func try(t *testing.T, args ...string) (code int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app.App{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }}
	code = run(t.Context(), a, args)
	return code, stdout.String(), stderr.String()
}

// TestReferencePageIsCurrent fails if a command or flag was changed: `go generate ./cmd/moneymove` writes the page.
func TestReferencePageIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../docs/moneymove.md")
	require.NoError(t, err)
	code, out, _ := try(t, "reference")
	require.Equal(t, app.ExitFine, code)
	assert.Equal(t, string(page), out)
}

// A flag of one name has a value in all commands, or in none: who writes it with one dash is understood before it is
// known which command it is of.
func TestFlagsOfOneNameTakeAValueOrNot(t *testing.T) {
	valued := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			value := flag.NoOptDefVal == ""
			if before, known := valued[flag.Name]; known {
				assert.Equal(t, before, value, "-%s of %s", flag.Name, c.CommandPath())
			}
			valued[flag.Name] = value
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root(&app.App{}))
}

// Each command says in one line what it does, and how it is called, without the help of a document.
func TestEachCommandHasHelp(t *testing.T) {
	count := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Name() != "help" && c.Name() != "completion" {
			count++
			assert.NotEmpty(t, c.Short, c.CommandPath())
			assert.False(t, strings.HasSuffix(c.Short, "."), c.CommandPath())
			code, out, errors := try(t, append(strings.Fields(c.CommandPath())[1:], "-h")...)
			assert.Equal(t, app.ExitFine, code, c.CommandPath())
			assert.Contains(t, out, "Usage:", c.CommandPath())
			assert.Empty(t, errors)
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root(&app.App{}))
	assert.Greater(t, count, 20)
}

// The links of the help lead to pages.
func TestTheHelpLeadsToTheDocs(t *testing.T) {
	_, out, _ := try(t, "-h")
	pages := regexp.MustCompile(regexp.QuoteMeta(docs)+`(\S+)`).FindAllStringSubmatch(out, -1)
	assert.Len(t, pages, 5)
	for _, page := range pages {
		assert.FileExists(t, filepath.Join("..", "..", "docs", page[1]))
	}
}

func TestWrongCommands(t *testing.T) {
	for _, line := range []string{"", "serve", "sandbox now", "fault", "keys", "settings nope", "clock advance"} {
		code, out, errors := try(t, strings.Fields(line)...)
		assert.Equal(t, app.ExitUsage, code, line)
		assert.Empty(t, out, line)
		assert.NotEmpty(t, errors, line)
	}
}

// What is wrong with a command line is one sentence, which says what to write.
func TestWrongCommandsSayWhatIsRight(t *testing.T) {
	for line, want := range map[string]string{
		"sandbocks":            `unknown command "sandbocks": did you mean "moneymove sandbox"?`,
		"setings get":          `unknown command "setings": did you mean "moneymove settings"?`,
		"settings gett":        `unknown command "gett": did you mean "moneymove settings get"?`,
		"serve":                `unknown command "serve": "moneymove -h" lists the commands`,
		"clock advance":        `an argument is missing: write "moneymove clock advance DURATION"`,
		"credit self 5":        `an argument is missing: write "moneymove credit ACCOUNT AMOUNT CURRENCY"`,
		"clock advance 1s now": `there is an argument too many, "now": write "moneymove clock advance DURATION"`,
		"sandbox now":          `there is an argument too many, "now": write "moneymove sandbox [flags]"`,
		"reset -yess":          `unknown flag: -yess; "moneymove reset -h" lists the flags`,
	} {
		code, _, errors := try(t, strings.Fields(line)...)
		assert.Equal(t, app.ExitUsage, code, line)
		assert.Equal(t, "moneymove: "+want+"\n", errors, line)
	}
}

func TestTheVersionIsAFlagAsWell(t *testing.T) {
	for _, line := range []string{"--version", "-version"} {
		code, out, errors := try(t, line)
		assert.Equal(t, app.ExitFine, code, errors)
		assert.Equal(t, "moneymove "+moneymovement.Version+"\n", out)
	}
}

// Whoever asks for JSON gets errors as JSON, too.
func TestErrorsAreJSONForWhoAsksForIt(t *testing.T) {
	for line, code := range map[string]int{
		"rates EUR -url http://127.0.0.1:1 -o json": app.ExitUnreachable, "sandbocks -o json": app.ExitUsage,
		"-output=json clock advance": app.ExitUsage, "reset -yess --output json": app.ExitUsage,
	} {
		got, out, errors := try(t, strings.Fields(line)...)
		assert.Equal(t, code, got, line)
		assert.Empty(t, out)
		var failed struct {
			Error    string
			ExitCode int
		}
		require.NoError(t, json.Unmarshal([]byte(errors), &failed), errors)
		assert.Equal(t, code, failed.ExitCode)
		assert.NotEmpty(t, failed.Error)
	}
}

// A shell completes a flag with the dashes that a person typed.
func TestFlagsAreCompletedWithOneDash(t *testing.T) {
	for typed, want := range map[string]string{
		"-contr": "-control\t", "--contr": "--control\t", "-rate": "-rate-limits\t",
	} {
		_, out, errors := try(t, "__complete", "sandbox", typed)
		assert.True(t, strings.HasPrefix(out, want), "%s: %q %s", typed, out, errors)
	}
	_, out, _ := try(t, "__complete", "faults", "-o", "")
	assert.Contains(t, out, "json")
	_, out, _ = try(t, "__complete", "sandbox", "-output", "")
	assert.Contains(t, out, "json")
}

// A host whose terminal is closed removes its folder with private keys. One that outlives the terminal goes on.
func TestHangupEndsCommand(t *testing.T) {
	byNohup := signal.Ignored(syscall.SIGHUP) // the tests may run under it
	assert.Equal(t, !byNohup, slices.Contains(ends(), os.Signal(syscall.SIGHUP)))
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	assert.NotContains(t, ends(), syscall.SIGHUP)
}

func TestTheVersionIsPrinted(t *testing.T) {
	run := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		a := &app.App{Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }}
		root := &cobra.Command{Use: "moneymove"}
		root.AddCommand(versionCommand(a))
		require.Equal(t, app.ExitFine, a.Run(t.Context(), root, append([]string{"version"}, args...)), stderr.String())
		return stdout.String()
	}
	var printed version
	require.NoError(t, json.Unmarshal([]byte(run()), &printed))
	assert.Equal(t, moneymovement.Version, printed.Version)
	assert.Equal(t, runtime.Version(), printed.Go)
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, printed.System)
	assert.Contains(t, run("-o", "table"), "moneymove")
}

func TestModulesAreWhatIsLinked(t *testing.T) {
	v := readVersion(&debug.BuildInfo{
		Main: debug.Module{Path: "example.com/main", Version: "v1.0.0", Sum: "h1:a"},
		Deps: []*debug.Module{
			{Path: "example.com/other", Version: "v1.1.0", Sum: "h1:b"},
			{Path: "example.com/replaced", Version: "v1.2.0", Replace: &debug.Module{Path: "../replaced"}},
		},
	}, true)
	assert.Equal(t, []module{{"example.com/main", "v1.0.0", "h1:a"}, {"example.com/other", "v1.1.0", "h1:b"},
		{"../replaced", "", ""}}, v.Modules, "a folder in the place of a module shows")
	assert.Len(t, v.table().Rows, 5)
	assert.Empty(t, readVersion(nil, false).Modules)
}
