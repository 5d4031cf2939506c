package examples_test

import (
	"encoding/json"
	"go/format"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// goBlock is Go code of a page.
var goBlock = regexp.MustCompile("(?s)\n```go\n(.+?)```")

// codeOf returns the Go code of a page, block by block.
func codeOf(t *testing.T, page string) []string {
	t.Helper()
	testkit.Long(t, "compiles the code of a page")
	content, err := os.ReadFile(filepath.Join("..", page))
	require.NoError(t, err)
	var code []string
	for _, block := range goBlock.FindAllStringSubmatch(string(content), -1) {
		formatted, err := format.Source([]byte(block[1]))
		require.NoError(t, err)
		assert.Equal(t, string(formatted), block[1], "as gofmt has it")
		code = append(code, block[1])
	}
	return code
}

// overlay makes the go command see files in a folder of this module that is not there, and returns its flag.
func overlay(t *testing.T, folder string, files map[string]string) string {
	t.Helper()
	there := t.TempDir()
	replaced := map[string]string{}
	for name, code := range files {
		require.NoError(t, os.WriteFile(filepath.Join(there, name), []byte(code), 0o600))
		inTree, err := filepath.Abs(filepath.Join(folder, name))
		require.NoError(t, err)
		replaced[inTree] = filepath.Join(there, name)
	}
	content, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	name := filepath.Join(there, "overlay.json")
	require.NoError(t, os.WriteFile(name, content, 0o600))
	return "-overlay=" + name
}

// The program of the README says what to do without a key file, waits for a decision without money, and pays once,
// however often it runs.
func TestTheProgramOfTheReadmePays(t *testing.T) {
	code := codeOf(t, "README.md")
	require.Len(t, code, 2)
	host := sandbox.New(sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	defer server.Close()
	credentials := host.Credentials()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	require.NoError(t, err)
	account := platform.For(client.ID)
	contact, err := account.Contacts.Create(t.Context(),
		dapi.ContactCreate{Name: "Supplier", Account: dapi.Onchain(dapi.OnchainAccount{
			WalletAddress: "0x1111111111111111111111111111111111111111", ChainID: "base", Currency: "USDC",
		})})
	require.NoError(t, err)
	program := code[0]
	for shown, real := range map[string]string{
		`"https://host.example"`: `"` + server.URL + `"`, `"ops@example.com"`: `"` + credentials.Email + `"`,
		`"cl_8fK2"`: `"` + string(client.ID) + `"`, `"ct_3dR9"`: `"` + string(contact.ID) + `"`,
	} {
		require.Contains(t, program, shown)
		program = strings.ReplaceAll(program, shown, real)
	}
	folder := t.TempDir()
	binary := filepath.Join(folder, "pay.exe")
	const pkg = "internal/readme/pay"
	said, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary,
		overlay(t, pkg, map[string]string{"main.go": program}), "./"+pkg).CombinedOutput()
	require.NoError(t, err, "%s", said)
	run := func() (string, error) {
		command := exec.CommandContext(t.Context(), binary)
		command.Dir = folder
		said, err := command.CombinedOutput()
		return string(said), err
	}

	said1, err := run()
	assert.Error(t, err)
	assert.Regexp(t, `^\S+ \S+ create a developer key .*developer\.pem.*\n$`, said1, "one line, and no panic")

	require.NoError(t, credentials.Key.Save(filepath.Join(folder, "developer.pem")))
	for range 2 {
		said2, err := run()
		assert.Error(t, err)
		assert.Contains(t, said2, "a person must decide about this payment: ")
		assert.Contains(t, said2, "balance")
	}

	_, err = account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	require.NoError(t, err)
	decide(t, filepath.Join(folder, "payments.db"), moneymovement.DeriveKey("invoice", "42", "1"), payments.Retry())
	lost := host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
	for range 2 {
		said3, err := run()
		assert.NoError(t, err, said3)
		assert.Contains(t, said3, "the money is on its way")
	}
	assert.Equal(t, 1, lost.Consumed())
	assert.Equal(t, "37.5", host.Ledger().Balances[string(client.ID)]["USDC"].String())
}

// decide stores the decision of a person, while no program has the file.
func decide(t *testing.T, file string, key moneymovement.Key, decision payments.Decision) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	processor, err := payments.New(store, payments.Services{}, payments.Config{})
	require.NoError(t, err)
	_, err = processor.Decide(t.Context(), key, decision)
	require.NoError(t, err)
	require.NoError(t, processor.Stop(t.Context()))
	require.NoError(t, store.Close())
}

// The test of the README passes with a backend that pays.
func TestTheTestOfTheReadmePasses(t *testing.T) {
	code := codeOf(t, "README.md")
	require.Len(t, code, 2)
	const backend = `package backend

import (
	"context"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

func PayInvoice(ctx context.Context, account *dapi.Account, number string) {
	contact, err := account.Contacts.Create(ctx,
		dapi.ContactCreate{Account: dapi.Onchain(dapi.OnchainAccount{
			WalletAddress: "0x1111111111111111111111111111111111111111", ChainID: "base", Currency: "USDC",
		})})
	if err != nil {
		panic(err)
	}
	_, _ = account.Payouts.Pay(ctx, dapi.PayoutCreate{
		ContactID: contact.ID, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC,
	}, moneymovement.DeriveKey("invoice", number), dapi.PayTerms{})
}
`
	const imports = `package backend

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

`
	binary := filepath.Join(t.TempDir(), "test.exe")
	const pkg = "internal/readme/backend"
	said, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", binary,
		overlay(t, pkg, map[string]string{"backend.go": backend, "backend_test.go": imports + code[1]}), "./"+pkg).
		CombinedOutput()
	require.NoError(t, err, "%s", said)
	said, err = exec.CommandContext(t.Context(), binary, "-test.v").CombinedOutput()
	assert.NoError(t, err, "%s", said)
	assert.Contains(t, string(said), "--- PASS: TestLostResponseIsPaidOnce")
}
