// Session logs in once and reuses the session: go run ./examples/session
//
// A login takes a challenge, a signature and a token. Access tokens live 60 minutes and refresh tokens 60 days, so a
// program that is started often keeps its session in a file and logs in about every two months. What goes over the wire
// for it is printed as it goes.
package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("session", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	folder, err := os.MkdirTemp("", "moneymovement-session-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	store := dapi.NewFileTokenStore(filepath.Join(folder, "session"))

	// start is what a program does each time it is started: make a client, call.
	start := func() error {
		developer := p.Developer()
		developer.Store = store
		wire := &http.Client{Transport: logins{p, &http.Transport{Proxy: http.ProxyFromEnvironment}}}
		platform, err := dapi.NewIntegrator(p.BaseURL, developer, moneymovement.WithHTTPClient(wire))
		if err != nil {
			return err
		}
		page, err := platform.Self().Transactions.List(ctx, dapi.ListTransactionsParams{Limit: 10})
		if err == nil {
			p.Detail("read the ledger: %d entries", len(page.Items))
		}
		return err
	}

	p.Step("first start: there is no session, so the first call logs in")
	if err := start(); err != nil {
		return err
	}
	session, err := store.Load(ctx)
	if err != nil {
		return err
	}
	p.Step("the session is in a file that only its owner can read; it prints as %v", session)

	p.Step("second start: the session is reused, nothing but the call itself is sent")
	if err := start(); err != nil {
		return err
	}

	p.Step("third start, as if an hour had passed: the access token is refreshed, without a login")
	session.ExpiresAt = time.Now()
	if err := store.Save(ctx, session); err != nil {
		return err
	}
	return start()
}

// logins tells which calls serve the session. It is the standard hook: a transport around another.
type logins struct {
	program *program.Program
	next    http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (l logins) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/auth/") {
		l.program.Detail("%s %s", r.Method, r.URL.Path)
	}
	return l.next.RoundTrip(r)
}
