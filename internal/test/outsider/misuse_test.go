package outsider_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// misuses are lines that must not compile, by what is wrong with each. right holds the same lines as they are meant, so
// that a line which fails for another reason is noticed.
var misuses = map[string]struct{ wrong, right string }{
	"a key on a read": {
		`acme.Payouts.Get(ctx, "po_1", moneymovement.IdempotencyKey("k"))`,
		`acme.Payouts.Get(ctx, "po_1", moneymovement.Timeout(0))`},
	"a key on a write that it does not anchor": {
		`acme.Contacts.Create(ctx, dapi.ContactCreate{}, moneymovement.IdempotencyKey("k"))`,
		`acme.Contacts.Create(ctx, dapi.ContactCreate{})`},
	"a key on a confirm": {
		`acme.Payouts.Confirm(ctx, dapi.PayoutCreate{}, &dapi.Payout{}, moneymovement.IdempotencyKey("k"))`,
		`acme.Payouts.Confirm(ctx, dapi.PayoutCreate{}, &dapi.Payout{})`},
	"a second key": {
		`acme.Payouts.Pay(ctx, dapi.PayoutCreate{}, "k", dapi.PayTerms{}, moneymovement.IdempotencyKey("l"))`,
		`acme.Payouts.Pay(ctx, dapi.PayoutCreate{}, "k", dapi.PayTerms{}, moneymovement.Timeout(0))`},
	"a payment without a key": {
		`acme.Payouts.Pay(ctx, dapi.PayoutCreate{}, dapi.PayTerms{})`,
		`acme.Payouts.Pay(ctx, dapi.PayoutCreate{}, "k", dapi.PayTerms{})`},
	"a bound of a price on a deposit": {
		`acme.Sandbox.Deposit(ctx, dapi.DepositCreate{}, dapi.Bounds{MaxFee: &one})`,
		`acme.Sandbox.Deposit(ctx, dapi.DepositCreate{}, moneymovement.IdempotencyKey("k"))`},
	"a bound of a price on an escrow": {
		`acme.Escrows.Open(ctx, dapi.EscrowCreate{}, "k", dapi.EscrowTerms{Bounds: dapi.Bounds{}})`,
		`acme.Escrows.Open(ctx, dapi.EscrowCreate{}, "k", dapi.EscrowTerms{History: dapi.History{}})`},
	"an option of a call for a client": {
		`dapi.NewIntegrator("", dapi.Developer{}, moneymovement.Timeout(0))`,
		`dapi.NewIntegrator("", dapi.Developer{}, moneymovement.WithTimeout(0))`},
	"an option of a client for a call": {
		`acme.Payouts.Get(ctx, "po_1", moneymovement.WithTimeout(0))`,
		`acme.Payouts.Get(ctx, "po_1", moneymovement.Timeout(0))`},
	"an option of a wait for a call": {
		`acme.Payouts.Get(ctx, "po_1", moneymovement.PollEvery(1, 2))`,
		`acme.Payouts.Wait(ctx, "po_1", moneymovement.PollEvery(1, 2))`},
	"an app key for the platform API": {
		`dapi.NewIntegrator("", appapi.NewAPIKey("k"))`,
		`dapi.NewIntegrator("", dapi.Developer{})`},
	"an app key alone for the reference endpoints": {
		`refapi.New("", refapi.NewAPIKey("k"))`,
		`refapi.New("", refapi.Credential{APIKey: refapi.NewAPIKey("k")})`},
	"a credential for the public utilities": {
		`public.New("", refapi.Credential{})`,
		`public.New("")`},
	"a client's id for a payout's": {
		`acme.Payouts.Get(ctx, dapi.ClientID("cl_1"))`,
		`acme.Payouts.Get(ctx, dapi.PayoutID("po_1"))`},
	"a client of oneself in self-serve": {
		`own.For("cl_1")`,
		`integrator.For("cl_1")`},
	"an amount in floating point": {
		`_ = dapi.PayoutCreate{Amount: 12.5}`,
		`_ = dapi.PayoutCreate{Amount: one}`},
	"secrets that are compared by ==": {
		`_ = secret == secret`,
		`_ = secret.Equal(secret)`},
	"a token in the place of a key": {
		`app.UseKey(refapi.NewAccessToken("t"))`,
		`app.UseKey(appapi.NewAPIKey("k"))`},
}

// frame is what a line stands in.
const frame = `package %s

import (
	"context"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

var (
	_ context.Context
	_ decimal.Decimal
	_ moneymovement.Key
	_ appapi.APIKey
	_ dapi.PayoutID
	_ public.Client
	_ refapi.APIKey
)

func _(ctx context.Context, integrator *dapi.Integrator, own *dapi.SelfServe, acme *dapi.Account, app *appapi.Client,
	one decimal.Decimal, secret moneymovement.Secret,
) {
	%s
}
`

func TestMisuseDoesNotCompile(t *testing.T) {
	testkit.Long(t, "compiles small packages")
	var wrong, right []string
	for name, line := range misuses {
		wrong, right = append(wrong, line.wrong), append(right, line.right)
		assert.NotEqual(t, line.wrong, line.right, name)
	}
	assert.Empty(t, compile(t, "right", right), "the lines as they are meant")
	failed := compile(t, "wrong", wrong)
	for name, line := range misuses {
		assert.NotEmpty(t, failed[line.wrong], "%s compiles: %s", name, line.wrong)
	}
}

// compile returns the errors of each line, in a package of their own beside this one.
func compile(t *testing.T, name string, lines []string) map[string][]string {
	t.Helper()
	folder := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	byFile := map[string]string{}
	for i, line := range lines {
		file := fmt.Sprintf("line%02d.go", i)
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), fmt.Appendf(nil, frame, name, line), 0o600))
		inTree, err := filepath.Abs(filepath.Join(name, file))
		require.NoError(t, err)
		overlay["Replace"][inTree] = filepath.Join(folder, file)
		byFile[file] = line
	}
	content, err := json.Marshal(overlay)
	require.NoError(t, err)
	overlayFile := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, content, 0o600))
	said, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", overlayFile,
		"./"+name).CombinedOutput()
	found := map[string][]string{}
	for problem := range strings.Lines(string(said)) {
		if strings.HasPrefix(problem, "#") || strings.HasPrefix(problem, "\t") { // a heading, more of the one before
			continue
		}
		place, what, _ := strings.Cut(strings.TrimSpace(problem), ": ")
		file, _, _ := strings.Cut(filepath.Base(place), ":")
		line, known := byFile[file]
		require.True(t, known, "the build fails for another reason: %s", problem)
		found[line] = append(found[line], what)
	}
	require.Equal(t, err != nil, len(found) > 0, "%v: %s", err, said)
	return found
}
