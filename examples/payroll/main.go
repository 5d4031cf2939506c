// Payroll pays everybody in a CSV file, once: go run ./examples/payroll
//
// A processor of package payments stores each payment in a file before it is sent. The idempotency key of a payment
// derives from the run and the person's id. Ctrl-C lets the payments under way finish. After Ctrl-C, a crash or a power
// cut, the same command pays the people who are left, and pays nobody twice.
//
// On its own host, the program shows that: it starts itself in another process, kills that process in the middle, and
// pays the rest. To interrupt it by hand, start a host that stays, and press Ctrl-C in the last command:
//
//	go run ./cmd/moneymove sandbox -key-file developer.pem
//	export MONEYMOVEMENT_BASE_URL=http://127.0.0.1:8080 MONEYMOVEMENT_EMAIL=ops@example.com
//	export MONEYMOVEMENT_KEY_FILE=developer.pem
//	go run ./examples/payroll -file examples/payroll/payroll.csv -run 2026-11
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// sample is the file that the program pays if -file names none.
//
//go:embed payroll.csv
var sample string

func main() { program.Main(run) }

// settings are the values of the flags.
type settings struct {
	file, run, store string
	fileFlag         string // as the command line has it
	client           string
	workers          int
	settle           time.Duration
	interruptAfter   int
}

func (s *settings) register(flags *flag.FlagSet) {
	flags.StringVar(&s.file, "file", "",
		"CSV `file` with the columns id, name, iban, amount (in USDC) and reference; if empty, a sample")
	flags.StringVar(&s.run, "run", "", "`name` of the run, such as 2026-11; each id is paid once in a run")
	flags.StringVar(&s.store, "store", "", "`file` that keeps the payments; if empty, payroll-<run>.db")
	flags.StringVar(&s.client, "client", "",
		"`id` of the client that pays; if empty, the program creates one and credits it in the sandbox")
	flags.IntVar(&s.workers, "workers", 4, "`number` of payments at the same time")
	flags.DurationVar(&s.settle, "settle", 30*time.Second,
		"how long to wait until the payments arrive; the next start looks again")
	flags.IntVar(&s.interruptAfter, "interrupt-after", 6,
		"on the program's own host: kill the first start after this `number` of payments; 0 does not")
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	p, err := program.Open("payroll", args, out, s.register)
	if err != nil {
		return err
	}
	defer p.Close()
	people, err := s.check()
	if err != nil {
		return err
	}
	if s.store == "" {
		s.store = "payroll-" + s.run + ".db"
		if p.Host != nil { // the accounts end with the host, and the file is of no use after that
			folder, err := os.MkdirTemp("", "payroll-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			s.store = filepath.Join(folder, s.store)
		}
	}
	total := decimal.Zero
	for _, person := range people {
		total = total.Add(person.amount)
	}
	p.Step("run %s: %d people, %s USDC in all; every line is correct", s.run, len(people), total)
	if p.Host != nil && s.interruptAfter > 0 {
		if err := s.interrupted(ctx, p); err != nil {
			return err
		}
	}
	if err := s.pay(ctx, p, people, total); err != nil || p.Host == nil {
		return err
	}
	return audit(p, people, total)
}

// pay pays everybody, whatever an earlier start has done.
func (s *settings) pay(ctx context.Context, p *program.Program, people []person, total decimal.Decimal) (err error) {
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	client, err := s.open(ctx, p, platform, total)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, s.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	processor, err := payments.New(store, payments.Integrator(platform), payments.Config{InFlight: s.workers})
	if err != nil {
		return err
	}
	done, end := progress(p.Out, len(people), isTerminal(p.Out))
	pay := payroll{processor: processor, client: client, contacts: platform.For(client).Contacts, run: s.run,
		settle: s.settle, done: done}
	known, err := pay.stored(ctx, people)
	if err != nil {
		return err
	}
	p.Step("the payments are in %s, which has %d of %d people:", s.store, len(known), len(people))
	counts := map[moneymovement.PaymentState]int{}
	for _, person := range people {
		counts[stateOf(known, person)]++
	}
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		p.Detail("%d %s", counts[state], state)
	}
	problems, err := pay.everybody(ctx, people)
	end()
	if err != nil {
		return err
	}
	if known, err = pay.stored(context.WithoutCancel(ctx), people); err != nil {
		return err
	}
	return summarize(ctx, p.Narrator, people, known, problems)
}

// runName is the form of a run's name, which is part of a file's name.
var runName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// check reads the whole file and checks it, before anybody is paid.
func (s *settings) check() ([]person, error) {
	s.fileFlag = s.file
	content := io.NopCloser(strings.NewReader(sample))
	if s.file == "" {
		s.file = "payroll.csv"
		if s.run == "" {
			s.run = "sample"
		}
	} else {
		file, err := os.Open(s.file)
		if err != nil {
			return nil, err
		}
		content = file
	}
	defer content.Close()
	if !runName.MatchString(s.run) || s.workers < 1 {
		return nil, errors.New("-run needs a name of letters, digits, - and _; -workers needs at least 1")
	}
	people, err := readPeople(content)
	if err != nil {
		return nil, fmt.Errorf("%s: nobody was paid: %w", s.file, err)
	}
	return people, nil
}

// open returns the client that pays. If the program creates it, its email derives from the run, and the next start gets
// the same client.
func (s *settings) open(
	ctx context.Context, p *program.Program, platform *dapi.Integrator, total decimal.Decimal,
) (dapi.ClientID, error) {
	if s.client != "" {
		return dapi.ClientID(s.client), nil
	}
	p.Name = "payroll-" + s.run
	if _, err := customer.OpenWith(ctx, p, platform, total, dapi.USDC); err != nil {
		return "", err
	}
	client, err := customer.Client(ctx, p, platform)
	if err != nil {
		return "", err
	}
	return client.ID, nil
}
