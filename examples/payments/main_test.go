package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// TestMain runs the program if the program, under test, started itself.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

func TestProgramResumesAfterKill(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("TMPDIR", t.TempDir())
	rehearsal.Run(t, run, nil, "which is killed when payment 5 has left", "serving on ", "killed",
		"a start with this file",
		"compared 12 invoices with the ledger: 0 differences", "stopped")
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	host, flags := rehearsal.Host(t)
	store := filepath.Join(t.TempDir(), "payments.db")
	rehearsal.Run(t, run, append(flags, "-store", store), "using the sandbox host", "0 differences", "stopped")
	assert.Len(t, rehearsal.Left(host, "po_"), 12)
	assert.FileExists(t, store)
}

func TestListenNeedsClient(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	require.ErrorContains(t, run(t.Context(), []string{"-listen", "127.0.0.1:0"}, &bytes.Buffer{}), "-client")
}

// Ctrl-C in the middle of a payment lets it finish. The next start makes none again.
func TestCtrlCFinishesThePaymentUnderWay(t *testing.T) {
	o := newOffice(t)
	_, flags := rehearsal.Host(t)
	p, err := program.Open("payments", flags, &bytes.Buffer{})
	require.NoError(t, err)
	s := settings{listen: "127.0.0.1:0", store: o.file, client: string(o.client), maxFee: o.maxFee}
	ctx, interrupt := context.WithCancel(t.Context())
	slow := o.host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.Delay(200*time.Millisecond))
	require.NoError(t, s.start(ctx, p, o.platform, &told{program: p},
		func(ctx context.Context, url string, _ *payments.Processor) error {
			defer interrupt()
			invoice := payment{ID: "invoice-42", ContactID: o.supplier, Amount: decimal.RequireFromString("12.50")}
			err := submit(ctx, url, []payment{invoice})
			assert.Eventually(t, func() bool { return slow.Consumed() == 1 }, time.Minute, time.Millisecond)
			return err
		}))
	assert.Equal(t, "37.5", o.balance())
	o.start(func(ctx context.Context, b *backend) {
		o.pay(b, "12.50")
		assert.Equal(t, moneymovement.PaymentCompleted, o.ends(ctx, b))
	})
	assert.Equal(t, "37.5", o.balance())
}
