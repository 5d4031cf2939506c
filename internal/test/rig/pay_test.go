package rig_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

func TestMain(m *testing.M) {
	rig.Programs{"pay": pay, "careless": careless, "nothing": func() error { return nil }}.Main(m)
}

// amount is what each payment of the program moves, in USDC.
var amount = decimal.RequireFromString("12.5")

// pay is the program under test. It makes a number of payments, one after the other. Before it signs one, it stores the
// history of its key, and so a later start knows that an earlier one may have paid.
func pay() error { return program("invoice") }

// careless is the program with a mistake: each start has its own keys.
func careless() error { return program(strconv.Itoa(os.Getpid())) }

func program(keys string) error {
	key, err := signing.LoadDeveloperKey(os.Getenv("KEY"))
	if err != nil {
		return err
	}
	payments, err := strconv.Atoi(os.Getenv("PAYMENTS"))
	if err != nil {
		return err
	}
	platform, err := dapi.NewIntegrator(os.Getenv("URL"), dapi.Developer{Email: os.Getenv("EMAIL"), Key: key},
		moneymovement.WithoutPacing(), moneymovement.WithTimeout(2*time.Second))
	if err != nil {
		return err
	}
	account := platform.For(dapi.ClientID(os.Getenv("CLIENT")))
	for n := range payments {
		if err := payOne(account, keys, n); err != nil {
			return fmt.Errorf("payment %d: %w", n, err)
		}
	}
	return nil
}

// tries is how often payOne sends a payment. The network of a test is bad for less than this many tries.
const tries = 100

// payOne repeats a payment until it is paid.
func payOne(account *dapi.Account, keys string, n int) error {
	paid := filepath.Join(os.Getenv("JOURNAL"), fmt.Sprintf("%d.paid", n))
	if _, err := os.Stat(paid); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	key := moneymovement.DeriveKey(keys, strconv.Itoa(n))
	for try := 1; ; try++ {
		terms, err := payTerms(filepath.Join(os.Getenv("JOURNAL"), fmt.Sprintf("%s-%d.signed", keys, n)))
		if err != nil {
			return err
		}
		payment, err := account.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: dapi.ContactID(os.Getenv("CONTACT")),
			Amount: amount, Currency: dapi.USDC}, key, terms)
		switch {
		case err == nil:
			fmt.Println("paid", n, payment.Payout.ID)
			return os.WriteFile(paid, []byte(payment.Payout.ID), 0o600)
		case ctx.Err() != nil, try == tries:
			return err
		}
		fmt.Println("again", n, err)
		time.Sleep(10 * time.Millisecond)
	}
}

// payTerms returns the terms of a payment whose history is in a file.
func payTerms(file string) (dapi.PayTerms, error) {
	maxFee := decimal.NewFromInt(1)
	terms := dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &maxFee}}
	terms.Journal = func(_ context.Context, history dapi.History) error {
		text, err := json.Marshal(history)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file+".next", text, 0o600); err != nil {
			return err
		}
		return os.Rename(file+".next", file) // whole or not at all
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return terms, nil
	}
	if err != nil {
		return terms, err
	}
	return terms, json.Unmarshal(text, &terms.History)
}

// world is a host, a customer, and a program that pays.
type world struct {
	*rig.Host
	customer rig.Customer
	command  rig.Command
	payments int
}

// newWorld makes a world whose program connects to an address, or to the host itself if the address is empty.
func newWorld(t *testing.T, payments int, through func(*rig.Host) string) *world {
	t.Helper()
	host := rig.Serve(t, sandbox.WithInstantProgress())
	// More than twice what the payments cost: a low balance would stop a double payment.
	w := &world{Host: host, customer: host.Customer(t, decimal.NewFromInt(int64(payments)*30)), payments: payments}
	url := host.URL()
	if through != nil {
		url = through(host)
	}
	w.command = rig.Again(t, "pay", "URL="+url, "EMAIL="+host.Credentials().Email, "KEY="+host.KeyFile(t),
		"CLIENT="+string(w.customer.Client), "CONTACT="+string(w.customer.Contact), "JOURNAL="+t.TempDir(),
		"PAYMENTS="+strconv.Itoa(payments))
	return w
}

// paidOnce checks the host's books and requests.
func (w *world) paidOnce(t *testing.T) {
	t.Helper()
	left := w.Left(string(w.customer.Client))
	assert.Len(t, left, w.payments, "one payout for each payment")
	for _, paid := range left {
		assert.Equal(t, amount.String(), paid.Amount.String(), paid.Resource)
		assert.Equal(t, 1, paid.Movements, paid.Resource)
	}
	assert.Empty(t, w.KeysWithTwoBodies())
}

func TestAPaymentSurvivesAKillAtEveryRequest(t *testing.T) {
	t.Parallel()
	whole := newWorld(t, 1, nil)
	before := len(whole.Raw())
	kills, exit := rig.Relay(t.Context(), t, whole.command, 1, func(int, *rig.Child) {})
	require.Zero(t, kills)
	require.Zero(t, exit.Code, exit.Output)
	whole.paidOnce(t)
	requests := len(whole.Raw()) - before
	require.Greater(t, requests, 3, "a login, a booking and a confirm")

	for _, phase := range []rig.Phase{rig.Lost, rig.Committed} {
		for number := 1; number <= requests; number++ {
			t.Run(fmt.Sprintf("%s, request %d of %d", phase, number, requests), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 1, nil)
				kills, exit := rig.Relay(t.Context(), t, w.command, 2, func(run int, child *rig.Child) {
					if run == 0 {
						w.At(rig.Moment{Number: number, Phase: phase}, child.Kill)
					}
				})
				assert.Equal(t, 1, kills)
				assert.Zero(t, exit.Code, exit.Output)
				w.paidOnce(t)
			})
		}
	}
}

// The books show what the test above looks for.
func TestTheBooksShowADoublePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	command := w.command
	command.Env = slices.Clone(command.Env)
	command.Env[0] = rig.Again(t, "careless").Env[0]
	kills, exit := rig.Relay(t.Context(), t, command, 2, func(run int, child *rig.Child) {
		if run == 0 {
			w.At(rig.Moment{Request: "POST /dapi/v1/payouts/*/confirm", Phase: rig.Committed}, child.Kill)
		}
	})
	assert.Equal(t, 1, kills)
	assert.Zero(t, exit.Code, exit.Output)
	assert.Len(t, w.Left(string(w.customer.Client)), 2)
}

func TestPaymentsSurviveKillsAtAnyTime(t *testing.T) {
	t.Parallel()
	const kills = 20
	w := newWorld(t, 40, nil)
	pause := rig.Pauses(1, 0, 10*time.Millisecond)
	killed, exit := rig.Relay(t.Context(), t, w.command, kills+1, func(run int, child *rig.Child) {
		if run == kills {
			return
		}
		// At a request, and not after a time: in the same time, a fast program has paid all, and a slow one nothing.
		w.At(rig.Moment{Number: 1 + run%7, Phase: rig.Phase(run % 2)}, func() {
			if run%4 < 2 {
				child.Kill()
			} else {
				child.KillAfter(pause())
			}
		})
	})
	t.Logf("%d runs were killed, and the host got %d requests", killed, len(w.Raw()))
	assert.Positive(t, killed)
	assert.Zero(t, exit.Code, exit.Output)
	w.paidOnce(t)
}

func TestPaymentsSurviveABadNetwork(t *testing.T) {
	t.Parallel()
	var proxy *rig.Proxy
	w := newWorld(t, 40, func(host *rig.Host) string {
		proxy = rig.NewProxy(t, host.Address())
		return "http://" + proxy.Address()
	})
	child := w.command.New(t)
	child.Start()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		exit, err := child.Wait(t.Context())
		assert.NoError(t, err)
		assert.Zero(t, exit.Code, exit.Output)
	}()
	rounds := 0
	for waiting := true; waiting; rounds++ {
		proxy.Heal()
		switch rounds % 6 {
		case 0:
			proxy.Add(rig.Latency{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}, rig.Responses, 1)
		case 1:
			proxy.Add(rig.Limit{Bytes: 600}, rig.Responses, 0.5)
		case 2:
			proxy.Add(rig.Slices{Size: 40, Variation: 20, Pause: 100 * time.Microsecond}, rig.Requests, 1)
		case 3:
			proxy.Add(rig.Reset{}, rig.Responses, 0.5)
		case 4:
			proxy.Add(rig.Silence{CloseAfter: 100 * time.Millisecond}, rig.Responses, 0.5)
		case 5:
			proxy.Cut()
			proxy.Mend()
		}
		select {
		case <-ended:
			waiting = false
		case <-time.After(150 * time.Millisecond):
		}
	}
	t.Logf("the network changed %d times, and the host got %d requests", rounds, len(w.Raw()))
	w.paidOnce(t)
}
