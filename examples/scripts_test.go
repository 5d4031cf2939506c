package examples_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/sandbox"
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
	if page != setupPage && page != firstSteps {
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

// cheat changes the payload of a challenge or of an approval, and may change the response around it. It returns the
// bytes of the payload.
type cheat func(response, payload map[string]any) string

// cheats are what a host could try to get a signature for. Each key is the operation whose response is changed.
var cheats = map[string]map[string]cheat{
	"/dapi/v1/auth/challenge": {
		"an approval": func(_, p map[string]any) string {
			clear(p)
			p["approvalId"], p["amount"], p["operation"] = "apr_1", "1000000", "payout.fund"
			return canonical(p)
		},
		"an approval that says that it is a login": func(_, p map[string]any) string {
			p["approvalId"], p["amount"], p["operation"] = "apr_1", "1000000", "payout.fund"
			return canonical(p)
		},
		"the login of another": with("email", "eve@example.com"),
		"another purpose":      with("purpose", "payout"),
		"another challenge":    with("challengeId", "ch_other"),
		"bytes":                func(_, _ map[string]any) string { return "pay everything" },
		"an escaped member":    func(_, p map[string]any) string { return strings.Replace(canonical(p), "login", `logi\u006e`, 1) },
	},
	"/dapi/v1/payouts": {
		"another amount": func(r, p map[string]any) string {
			r["amount"], p["amount"] = "40", "40"
			return canonical(p)
		},
		"another contact": func(r, p map[string]any) string {
			r["contactId"], p["destination"] = "ct_other", map[string]any{"contactId": "ct_other"}
			return canonical(p)
		},
		"an address as well": func(_, p map[string]any) string {
			p["destination"].(map[string]any)["address"] = "0x52908400098527886E0F7030069857D2E4169EE7"
			return canonical(p)
		},
		"a chain": func(_, p map[string]any) string {
			p["destination"].(map[string]any)["chainId"] = "42161"
			return canonical(p)
		},
		"no destination":    func(_, p map[string]any) string { delete(p, "destination"); return canonical(p) },
		"the own account":   with("account", "self"),
		"another currency":  with("currency", "EURC"),
		"another operation": with("operation", "escrow.release"),
		"another payout":    with("resourceId", "po_other"),
		"another approval":  with("approvalId", "apr_other"),
		"an unknown member": with("beneficiary", "Eve"),
		"another end":       with("expiresAt", "2099-01-01T00:00:00Z"),
		"an endless window": func(r, p map[string]any) string {
			r["approval"].(map[string]any)["expiresAt"], p["expiresAt"] = "2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
			return canonical(p)
		},
		"no nonce":   with("nonce", ""),
		"a number":   with("amount", 12.5),
		"a big form": with("amount", "1.25e1"),
		"a member twice": func(_, p map[string]any) string {
			return strings.Replace(canonical(p), `{"account"`, `{"account":"self","account"`, 1)
		},
		"white space": func(_, p map[string]any) string { return canonical(p) + "\n" },
	},
}

func with(member string, value any) cheat {
	return func(_, payload map[string]any) string {
		payload[member] = value
		return canonical(payload)
	}
}

func canonical(value any) string {
	text, err := json.Marshal(value) // sorts the members
	if err != nil {
		panic(err) // maps of texts can be encoded
	}
	return string(text)
}

// cheater is a host behind a proxy that cheats once.
type cheater struct {
	*sandbox.Host
	path string
	with cheat
}

func (c *cheater) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.with == nil || r.URL.Path != c.path {
		c.Host.ServeHTTP(w, r)
		return
	}
	recorder := httptest.NewRecorder()
	c.Host.ServeHTTP(recorder, r)
	var response, payload map[string]any
	if json.Unmarshal(recorder.Body.Bytes(), &response) == nil {
		holder := response
		if approval, is := response["approval"].(map[string]any); is {
			holder = approval
		}
		text, _ := holder["payload"].(string)
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err == nil && json.Unmarshal(decoded, &payload) == nil {
			holder["payload"] = base64.StdEncoding.EncodeToString([]byte(c.with(response, payload)))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(recorder.Code)
	_, _ = io.WriteString(w, canonical(response))
}

// fund gives the client of the page something to spend.
func (c *cheater) fund(t *testing.T, url string) {
	t.Helper()
	own := c.Credentials()
	platform, err := dapi.NewIntegrator(url, dapi.Developer{Email: own.Email, Key: own.Key})
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com",
		Type: dapi.ClientTypeBusiness, EntityName: "Acme"})
	require.NoError(t, err)
	_, err = platform.For(client.ID).Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: decimal.NewFromInt(50),
		Currency: dapi.USDC})
	require.NoError(t, err)
}

// signed are the requests that carry a signature for what the host sent.
func (c *cheater) signed() (count int) {
	for _, request := range c.Requests() {
		switch {
		case c.path == "/dapi/v1/auth/challenge" && request.Path == "/dapi/v1/auth/token",
			strings.HasSuffix(request.Path, "/confirm"):
			count++
		}
	}
	return count
}

// pageOf returns the code of a page in one language.
func pageOf(t *testing.T, name, language, from, to string) string {
	t.Helper()
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			testkit.Missing(t, "pages", "needs "+program)
		}
	}
	page, err := os.ReadFile(strings.Replace(flowPages, "*", name, 1))
	require.NoError(t, err)
	_, part, found := strings.Cut(string(page), from)
	require.True(t, found)
	part, _, _ = strings.Cut(part, to)
	var program strings.Builder
	for _, b := range blocks(part) {
		if b.language == language {
			program.WriteString(b.text + "\n")
		}
	}
	return program.String()
}

// pays runs a program against a host that cheats.
func pays(t *testing.T, program, path string, with cheat, command ...string) (c *cheater, said string) {
	t.Helper()
	c = &cheater{Host: sandbox.New(sandbox.WithInstantProgress(), sandbox.WithControl()), path: path, with: with}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	require.NoError(t, c.Credentials().Key.Save(filepath.Join(folder, "developer.pem")))
	if path != "/dapi/v1/auth/challenge" {
		c.fund(t, server.URL)
	}
	own := strings.NewReplacer("http://127.0.0.1:8080", server.URL)
	require.Equal(t, "ops@example.com", c.Credentials().Email)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "program"), []byte(own.Replace(program)), 0o600))
	run := exec.CommandContext(t.Context(), command[0], append([]string{"program"}, command[1:]...)...)
	run.Dir = folder
	output, _ := run.CombinedOutput() // the host tells whether it got a signature
	return c, string(output)
}

func signsNothingElse(t *testing.T, program string, command ...string) {
	t.Helper()
	c, said := pays(t, program, "", nil, command...)
	require.Equal(t, 1, c.signed(), "%s", said)
	for path, all := range cheats {
		for name, one := range all {
			t.Run(path[len("/dapi/v1/"):]+" "+name, func(t *testing.T) {
				t.Parallel()
				c, said := pays(t, program, path, one, command...)
				assert.Contains(t, said, "not signed: ")
				assert.Zero(t, c.signed(), "%s", said)
			})
		}
	}
}

// The clients of the pages read what they sign. A host that cheats gets no signature.
func TestThePythonOfThePageSignsNothingElse(t *testing.T) {
	testkit.Long(t, "starts a program for each cheat")
	signsNothingElse(t, pageOf(t, "python", "python", "", "\x00"), "python3", "42")
}

func TestTheShellOfThePageSignsNothingElse(t *testing.T) {
	testkit.Long(t, "starts a program for each cheat")
	signsNothingElse(t, pageOf(t, "curl", "sh", "## The long way", "### Again"), "bash")
}
