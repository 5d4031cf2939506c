package paymentstore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// restoredFrom returns from when the copy is that the file was restored from.
func (p program) restoredFrom(t *testing.T) time.Time {
	t.Helper()
	store, err := sqlite.Open(t.Context(), p.path)
	require.NoError(t, err)
	summary, err := store.Summary(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.Close())
	return summary.RestoredFrom
}

func TestAPersonSaysThatTheFileIsACopy(t *testing.T) {
	p := newProgram(t)
	p.run(t, []moneymovement.Key{"invoice-1"}, p.payment("invoice-1"))
	for name, args := range map[string][]string{
		"give either -since":      {"restored"},
		"give either -since with": {"restored", "-since", "2026-03-01T04:00:00Z", "-end"},
		`-since is "yesterday"`:   {"restored", "-since", "yesterday"},
		"must not be in the fut":  {"restored", "-since", time.Now().Add(48 * time.Hour).Format(time.RFC3339)},
	} {
		got := p.moneymove(t, "", args...)
		assert.Equal(t, app.ExitUsage, got.code, name)
		assert.Contains(t, got.errors, name)
	}
	assert.Zero(t, p.restoredFrom(t))

	got := p.moneymove(t, "", "restored", "-since", "2026-03-01T04:00:00Z")
	require.Equal(t, app.ExitFine, got.code, got.errors)
	assert.Equal(t, time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC), p.restoredFrom(t))
	assert.Equal(t, "the store is a copy of 2026-03-01T04:00:00Z: each payment is searched for before it is paid\n",
		got.out)
	got = p.moneymove(t, "", "decide", "invoice-1", "cancel")
	assert.Equal(t, app.ExitRefused, got.code)
	assert.Contains(t, got.errors, "money may have left", "it can have been paid after the copy")
	got = p.moneymove(t, "", "restored", "-end")
	require.Equal(t, app.ExitFine, got.code, got.errors)
	assert.Equal(t, "payments that are submitted from now on are new, and need no search\n", got.out)
	assert.Zero(t, p.restoredFrom(t))
	assert.Contains(t, p.moneymove(t, "", "restored", "-end").out, "nothing has changed")
	assert.JSONEq(t, "{}", p.moneymove(t, "", "restored", "-end", "-o", "json").out)
}

// The commands of docs/deploys.md for a file work, in their order.
func TestTheCommandsForARestoredFile(t *testing.T) {
	testkit.Long(t, "builds commands")
	p := newProgram(t)
	p.run(t, []moneymovement.Key{"invoice-1"}, p.payment("invoice-1"))
	folder := t.TempDir()
	for name, command := range map[string]string{"moneymove": "cmd/moneymove",
		"paymentsfile": "payments/sqlite/cmd/paymentsfile"} {
		output, err := exec.Command("go", "build", "-o", filepath.Join(folder, name),
			"github.com/moneymovement/moneymovement-go/"+command).CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	page, err := os.ReadFile("../../../../docs/deploys.md")
	require.NoError(t, err)
	ran := 0
	for block := range strings.SplitSeq(string(page), "\n```") {
		commands, shell := strings.CutPrefix(block, "sh\n")
		if !shell || !strings.Contains(commands, "payments.db") {
			continue
		}
		command := exec.Command("sh", "-ec", commands)
		command.Dir, command.Env = filepath.Dir(p.path), append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		if ran++; ran == 1 {
			assert.FileExists(t, filepath.Join(filepath.Dir(p.path), "backup.db"))
			p.run(t, nil, p.payment("invoice-2"))
			continue
		}
		assert.Contains(t, string(output), "invoice-1")
		assert.NotContains(t, string(output), "invoice-2", "the copy does not know it")
	}
	assert.Equal(t, 2, ran)
	assert.Zero(t, p.restoredFrom(t))
	store, err := sqlite.Open(t.Context(), p.path)
	require.NoError(t, err)
	defer store.Close()
	record, err := store.Load(t.Context(), "invoice-1")
	require.NoError(t, err)
	assert.True(t, record.MayHaveLeft, "the mark stays with each payment")
	_, err = store.Load(t.Context(), "invoice-2")
	require.ErrorAs(t, err, new(*payments.NotFound))
}
