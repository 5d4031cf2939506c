package examples_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// needed are the programs that the pages use. Everybody can have them on Linux.
var needed = []string{"bash", "curl", "openssl", "python3"}

// toolbox runs what a shell and Python read on the pages.
type toolbox struct {
	missing []string
	setup   []block
	bin     string // the folder of the command moneymove
}

func newToolbox(t *testing.T) *toolbox {
	t.Helper()
	tools := &toolbox{bin: t.TempDir()}
	for _, name := range needed {
		if _, err := exec.LookPath(name); err != nil {
			tools.missing = append(tools.missing, name)
		}
	}
	content, err := os.ReadFile(setupPage)
	require.NoError(t, err)
	for _, b := range blocks(string(content)) {
		if b.language == "sh" && !strings.HasPrefix(b.text, exampleCommand) {
			tools.setup = append(tools.setup, b)
		}
	}
	return tools
}

// session is the shell of a reader who follows a page, and the host of the other terminal.
type session struct {
	folder  string
	address string            // of the host
	contact string            // that the host prepared, with -seed
	script  strings.Builder   // what the shell reads
	printed []string          // the files with what the steps print
	expect  map[string]string // what the page says that they print
	program strings.Builder   // the Python of the page
}

// run runs the blocks of a page in their order, after the setup, and compares what they print with the blocks of text.
// A block that nothing runs fails the test. It returns what each block of the shell printed.
func (tools *toolbox) run(t *testing.T, page string, script []block) (printed []string) {
	t.Helper()
	if len(script) == 0 {
		return nil
	}
	if len(tools.missing) > 0 || runtime.GOOS == "windows" {
		testkit.Missing(t, "pages", fmt.Sprintf("the blocks of this page need Unix with %v; missing: %v", needed,
			tools.missing))
	}
	if page != setupPage && page != readme {
		script = append(slices.Clone(tools.setup), script...)
	}
	s := &session{folder: t.TempDir(), expect: map[string]string{}}
	for _, b := range script {
		tools.read(t, s, b)
	}
	if s.program.Len() > 0 {
		file := pythonFile.FindStringSubmatch(s.script.String())
		require.NotNil(t, file, "no block runs the Python of this page")
		require.NoError(t, os.WriteFile(filepath.Join(s.folder, file[1]), []byte(s.here(s.program.String())), 0o600))
	}
	tools.shell(t, s)
	for _, file := range s.printed {
		said, err := os.ReadFile(file)
		require.NoError(t, err)
		if expected, ok := s.expect[file]; ok {
			assert.Regexp(t, like(s.here(expected)), string(said))
		}
		printed = append(printed, string(said))
	}
	return printed
}

// pythonFile is the file that a block runs with Python.
var pythonFile = regexp.MustCompile(`python3 (\w+\.py)`)

// read adds a block to the session, or runs it if it is for another terminal.
func (tools *toolbox) read(t *testing.T, s *session, b block) {
	t.Helper()
	switch {
	case b.language == "sh" && strings.HasPrefix(b.text, "go install "):
		tools.install(t, b.text)
	case b.language == "sh" && strings.HasPrefix(b.text, "moneymove sandbox "):
		require.Empty(t, s.address, "line %d: a second host", b.line)
		s.address, s.contact = tools.serve(t, s.folder, b.text)
	case b.language == "sh":
		file := filepath.Join(s.folder, fmt.Sprintf("printed-%d", len(s.printed)))
		s.printed = append(s.printed, file)
		fmt.Fprintf(&s.script, "exec >%s 2>&1\n%s", file, b.text)
	case b.language == "python":
		s.program.WriteString(b.text + "\n")
	case b.language == "text" && len(s.printed) > 0:
		s.expect[s.printed[len(s.printed)-1]] = b.text
	default:
		t.Errorf("line %d: nothing runs a block of %q", b.line, b.language)
	}
}

// here puts the address and the contact of the test's host in the place of those which the pages have.
func (s *session) here(text string) string {
	text = strings.ReplaceAll(text, "contact=ct_3dR9", "contact="+s.contact)
	return strings.ReplaceAll(text, "127.0.0.1:8080", s.address)
}

// like returns an expression for a text in which ... stands for anything in a line.
func like(text string) *regexp.Regexp {
	return regexp.MustCompile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(text), `\.\.\.`, `.*`) + `\z`)
}

// install installs the command with the go command of the page, in the folder of the test, unless it is there.
func (tools *toolbox) install(t *testing.T, text string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(tools.bin, "moneymove")); err == nil {
		return
	}
	command := exec.CommandContext(t.Context(), "bash", "-euc", text)
	command.Dir = ".."
	command.Env = append(os.Environ(), "GOBIN="+tools.bin, "GOFLAGS=-buildvcs=false")
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// serve runs the command that starts a host, at a free port, until the test ends. It returns the address, and the bank
// contact that the host prepared.
func (tools *toolbox) serve(t *testing.T, folder, text string) (address, contact string) {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-euc",
		"exec "+strings.TrimSpace(text)+" -addr 127.0.0.1:0 -o json")
	command.Dir, command.Env = folder, tools.environment(folder, "")
	var log strings.Builder // a line for each request
	command.Stderr = &log
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		assert.NoError(t, command.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, command.Wait())
		if t.Failed() {
			t.Logf("the host: %s", &log)
		}
	})
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the host did not start")
	var ready struct {
		BaseURL string
		Seeded  struct{ BankContact string }
	}
	require.NoError(t, json.Unmarshal(lines.Bytes(), &ready))
	return strings.TrimPrefix(ready.BaseURL, "http://"), ready.Seeded.BankContact
}

// shell runs the blocks in one shell, which ends at the first command that fails.
func (tools *toolbox) shell(t *testing.T, s *session) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", s.here(s.script.String()))
	command.Dir, command.Env = s.folder, tools.environment(s.folder, s.address)
	if err := command.Run(); err != nil {
		for _, file := range s.printed {
			if said, missing := os.ReadFile(file); missing == nil {
				t.Logf("%s", said)
			}
		}
		t.Fatalf("the blocks of the page: %v", err)
	}
}

// environment is that of a new user of the machine, with the command.
func (tools *toolbox) environment(folder, address string) []string {
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "MONEYMOVE")
	})
	return append(own, "PATH="+tools.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"XDG_CONFIG_HOME="+folder, "XDG_CACHE_HOME="+folder, "MONEYMOVE_CONTROL_URL=http://"+address+"/_host")
}

func TestLikeTheTextOfAPage(t *testing.T) {
	assert.Regexp(t, like("{\"id\":\"po_...\"}\n"), "{\"id\":\"po_1\"}\n")
	assert.NotRegexp(t, like("a...\n"), "a\nb\n")
	assert.NotRegexp(t, like("b\n"), "a\nb\n")
}
