// Fleet pays from several processes, one of which is killed: go run ./examples/fleet
//
// The payments are in PostgreSQL, in the same transaction as the invoices that they pay. Workers take them from there,
// and River wakes the workers. The workers use one developer key. They share its session and its rate windows on Redis,
// so they log in once, and the service refuses no call. One worker is killed with SIGKILL in the middle. The others
// take its payments over when its leases have ended, which is after 15 seconds.
//
// The program starts PostgreSQL and Redis with the programs of Debian's packages postgresql and redis-server. It uses
// running servers instead if MONEYMOVEMENT_POSTGRES_URL and MONEYMOVEMENT_REDIS_URL have their addresses. A minute of
// the rate windows of its own host lasts 10 seconds. All of it takes about half a minute.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func main() { program.Main(run) }

// settings are the values of the flags.
type settings struct {
	workers  int
	clients  int
	payments int
}

func (s *settings) register(flags *flag.FlagSet) {
	flags.IntVar(&s.workers, "workers", 4, "`number` of worker processes; the second one is killed")
	flags.IntVar(&s.clients, "clients", 4, "`number` of clients that pay")
	flags.IntVar(&s.payments, "payments", 200, "`number` of payments")
}

const (
	// minuteHere is how long a minute of the rate windows lasts on the program's own host.
	minuteHere = 10 * time.Second
	// statedHere is the minute of the workers for that host. A limiter counts a call for a sixtieth longer: here, for a
	// second longer than the host does, as with real minutes. On a slow machine a request can take a part of that.
	statedHere = (minuteHere + time.Second) * 60 / 61
)

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if program.StartedAgain() {
		return work(ctx, args, out)
	}
	var s settings
	p, err := program.OpenWith(program.CommandLine{Name: "fleet", Needs: []program.Need{program.DeveloperKey},
		Flags: []func(*flag.FlagSet){s.register},
		Host: []sandbox.Option{sandbox.WithAudit(), sandbox.WithRequestLog(100_000), sandbox.WithRateLimits(),
			sandbox.WithSettings(func(s *sandbox.Settings) { s.RateMinute = sandbox.Duration(minuteHere) })},
	}, args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	if s.workers < 2 || s.clients < 1 || s.payments < s.clients {
		return errors.New("-workers needs at least 2, -clients at least 1, and -payments one for each client")
	}
	servers, err := startServers()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, servers.stop(ctx)) }()
	p.Step("PostgreSQL keeps the payments, Redis the session and the rate windows")

	shared := fleetSettings{postgres: servers.postgres.URL(), redis: servers.redis.URL(),
		schema: "fleet_example_" + strings.ToLower(rand.Text()), minute: time.Minute}
	if p.Host != nil {
		shared.minute = statedHere
	}
	f, err := shared.create(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.remove(ctx)) }()
	return s.pay(ctx, p, f)
}

// pay submits the payments, kills a worker while they are made, and prints what came of it.
func (s *settings) pay(ctx context.Context, p *program.Program, f *fleet) error {
	b := business{program: p, fleet: f}
	if err := b.openClients(ctx, s.clients, s.payments); err != nil {
		return err
	}
	p.Step("opened %d clients with money", s.clients)
	var all []*worker
	defer func() {
		for _, w := range all {
			w.end()
		}
	}()
	for i := range s.workers {
		w, err := startWorker(ctx, p, f.settings, "worker "+strconv.Itoa(i+1))
		if err != nil {
			return err
		}
		all = append(all, w)
	}
	for _, w := range all {
		if err := w.awaitReady(ctx); err != nil {
			return err
		}
	}
	p.Step("started %d workers; each is a process of its own", s.workers)
	began := time.Now()
	for number := range s.payments {
		if err := b.submit(ctx, number+1); err != nil {
			return err
		}
	}
	p.Step("submitted %d payments, each in a transaction with its invoice", s.payments)

	victim := all[1]
	completed, err := b.awaitCompleted(ctx, s.payments/3)
	for err == nil && victim.made() == 0 && completed < s.payments*2/3 { // on a slow machine, it may have made none yet
		completed, err = b.awaitCompleted(ctx, completed+1)
	}
	if err != nil {
		return err
	}
	left := victim.kill()
	killed := time.Now()
	p.Step("killed %s with SIGKILL when %d payments were completed; it was making %d", victim.name, completed,
		len(left))
	for _, key := range left {
		if err := b.await(ctx, key); err != nil {
			return err
		}
	}
	took := time.Since(killed)
	p.Step("the others have completed these %d payments, %.1f s after the kill", len(left), took.Seconds())
	if _, err := b.awaitCompleted(ctx, s.payments); err != nil {
		return err
	}
	p.Step("all %d payments are completed, %.1f s after the first was submitted", s.payments,
		time.Since(began).Seconds())
	for _, w := range all {
		p.Detail("%s made %d", w.name, w.made())
	}
	return b.audit(ctx)
}
