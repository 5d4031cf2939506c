package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// workerVariable holds what this program needs if it is started as a worker, to be killed.
const workerVariable = "MONEYMOVEMENT_SUITE_WORKER"

func TestMain(m *testing.M) {
	if settings := os.Getenv(workerVariable); settings != "" {
		if err := work(settings); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
		}
		return
	}
	defer shared.Stop()
	m.Run()
}

type workerSettings struct{ Host, Email, Key, Database string }

// work pays until it is killed, or until the test's end of its standard input is closed.
func work(settings string) error {
	var s workerSettings
	if err := json.Unmarshal([]byte(settings), &s); err != nil {
		return err
	}
	p, err := newProgram(s.Host, s.Email, s.Key)
	if err != nil {
		return err
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, s.Database)
	if err != nil {
		return err
	}
	config := payments.Config{InFlight: 16, PollEvery: 100 * time.Millisecond, Owner: "worker"}
	if err := p.open(ctx, pool, postgres.Options{}, config, nil); err != nil {
		return err
	}
	if _, err := p.processor.Resume(ctx); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// worker starts a process that pays. The test kills it.
func (w *world) worker() *exec.Cmd {
	w.Helper()
	settings, err := json.Marshal(workerSettings{Host: w.URL, Email: w.Host.Credentials().Email, Key: w.keyFile,
		Database: w.database})
	require.NoError(w, err)
	//gosec:disable G204 -- it is this program
	process := exec.CommandContext(w.Context(), os.Args[0])
	process.Env = append(os.Environ(), workerVariable+"="+string(settings))
	process.Stderr = os.Stderr
	_, err = process.StdinPipe() // stays open until this process ends
	require.NoError(w, err)
	require.NoError(w, process.Start())
	return process
}
