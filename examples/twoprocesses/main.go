// Twoprocesses uses one developer key in two processes: go run ./examples/twoprocesses
//
// The processes share the session: dapi.NewFileTokenStore keeps it, so that only the first process logs in.
//
// They must share the rate windows, too. The service counts calls per credential, over all processes. A client keeps
// within the windows, but it does not know about the other process: two of them send twice as much as the service
// allows, and it refuses the rest with 429 rate_limited. With moneymovement.WithRateShare(2), each process uses half of
// each window.
//
// This program starts itself twice, as two processes that save contacts at the same time: first with whole windows,
// then with half a window each.
package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/target"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	if program.StartedAgain() {
		return work(ctx, args, out)
	}
	p, err := program.OpenWith(program.CommandLine{Name: "twoprocesses", Needs: []target.Need{target.DeveloperKey},
		Host: []sandbox.Option{sandbox.WithRateLimits()}}, args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	folder, err := os.MkdirTemp("", "moneymovement-session-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	session := filepath.Join(folder, "session")
	developer := p.Developer()
	developer.Store = dapi.NewFileTokenStore(session)
	platform, err := dapi.NewIntegrator(p.BaseURL, developer, p.Options()...)
	if err != nil {
		return err
	}
	client, err := customer.Client(ctx, p, platform)
	if err != nil {
		return err
	}
	p.Step("logged in, saved the session in a file, and created client %s", client.ID)

	for _, share := range []struct {
		of   int
		says string
	}{
		{1, "each process uses whole rate windows, as if it were alone"},
		{2, "each process uses half of each rate window"},
	} {
		p.Skip(time.Minute) // a new window
		p.Step("two processes, %d contacts each; %s", contacts, share.says)
		refused, err := bothProcesses(ctx, p, "-session", session, "-client", string(client.ID),
			"-share", strconv.Itoa(share.of))
		if err != nil {
			return err
		}
		if refused > 0 && p.Host == nil {
			p.Step("waiting a minute: the window of 120 writes is full")
			if err := sleep(ctx, time.Minute); err != nil {
				return err
			}
		}
	}
	return nil
}

// bothProcesses runs two processes at the same time, and returns how many calls the service refused.
func bothProcesses(ctx context.Context, p *program.Program, args ...string) (refused int, err error) {
	var results [2]result
	group, ctx := errgroup.WithContext(ctx)
	for i := range results {
		group.Go(func() error {
			process, err := p.Again(ctx, append([]string{"-name", strconv.Itoa(i + 1)}, args...)...)
			if err != nil {
				return err
			}
			line, err := process.Output()
			if err != nil {
				return err
			}
			return json.Unmarshal(line, &results[i])
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	saved, logins := 0, 0
	for i, r := range results {
		p.Detail("process %d: saved %d, refused by the service %d, left for the next minute %d", i+1, r.Saved,
			r.Refused,
			r.Left)
		saved, refused, logins = saved+r.Saved, refused+r.Refused, logins+r.Logins
	}
	p.Detail("together: saved %d, refused %d, logins %d", saved, refused, logins)
	return refused, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
