// Payroll pays everybody in a CSV file, once: go run ./examples/payroll
//
// Each payment is anchored to a key that derives from the run and the person's id, and written to a results file before
// it is sent. Ctrl-C lets what is under way finish. The same command again goes on where the last one ended, whatever
// ended it, and pays nobody twice. To try that, start a host that stays, and interrupt the second command:
//
//	go run ./cmd/moneymove sandbox -key-file developer.pem
//	go run ./examples/payroll -base-url http://127.0.0.1:8080 -email ops@example.com -key developer.pem -file examples/payroll/payroll.csv -run 2026-11
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

// sample is paid when no file is named.
//
//go:embed payroll.csv
var sample string

func main() { program.Main(run) }

// settings are what the flags say.
type settings struct {
	file, run, results string
	client             string
	workers            int
	settle             time.Duration
}

func (s *settings) register(flags *flag.FlagSet) {
	flags.StringVar(&s.file, "file", "",
		"CSV `file` with the columns id, name, iban, amount (in USDC) and reference; empty pays a sample")
	flags.StringVar(&s.run, "run", "", "`name` of the run, such as 2026-11: the same name pays each id once")
	flags.StringVar(&s.results, "results", "", "results `file`; payroll-<run>.results.csv by default")
	flags.StringVar(&s.client, "client", "",
		"`id` of the client that pays; empty makes one and credits it in the sandbox")
	flags.IntVar(&s.workers, "workers", 4, "how many payments are under way at the same time")
	flags.DurationVar(&s.settle, "settle", 30*time.Second,
		"how long to wait for a payment's arrival; the next start looks again")
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	p, err := program.Open("payroll", args, out, s.register)
	if err != nil {
		return err
	}
	defer p.Close()
	people, err := s.check(p.Embedded)
	if err != nil {
		return err
	}
	total := decimal.Zero
	for _, person := range people {
		total = total.Add(person.amount)
	}
	p.Step("run %s: %d people, %s USDC in all; every line is fine", s.run, len(people), total)

	account, id, err := s.open(ctx, p, total)
	if err != nil {
		return err
	}
	results, err := openResults(s.results, string(id))
	if err != nil {
		return err
	}
	defer results.close()
	if err := results.agreeWith(people); err != nil {
		return err
	}
	p.Step("results are kept in %s, which knows %d of them already", s.results, len(results.latest))

	done, end := progress(out, len(people), isTerminal(out))
	pay := payroll{account: account, run: s.run, results: results, workers: s.workers, settle: s.settle, done: done}
	err = pay.everybody(ctx, people)
	end()
	if err != nil {
		return err
	}
	return summarize(ctx, p.Narrator, people, results)
}

// runName becomes part of a file's name.
var runName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// check reads the file and judges all of it before anybody is paid.
func (s *settings) check(embedded bool) ([]person, error) {
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
		return nil, errors.New("-run needs a name of letters, digits, - and _, and -workers at least 1")
	}
	people, err := readPeople(content)
	if err != nil {
		return nil, fmt.Errorf("%s: nobody was paid: %w", s.file, err)
	}
	if s.results == "" {
		s.results = "payroll-" + s.run + ".results.csv"
		if embedded { // the accounts end with the host, and so does what the file says about them
			folder, err := os.MkdirTemp("", "payroll-")
			if err != nil {
				return nil, err
			}
			s.results = filepath.Join(folder, s.results)
		}
	}
	return people, nil
}

// open finds the account that pays. One that the program makes is found again by its email, which derives from the run.
func (s *settings) open(
	ctx context.Context, p *program.Program, total decimal.Decimal,
) (*dapi.Account, dapi.ClientID, error) {
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer())
	if err != nil {
		return nil, "", err
	}
	if s.client != "" {
		return platform.For(dapi.ClientID(s.client)), dapi.ClientID(s.client), nil
	}
	p.Name = "payroll-" + s.run
	account, err := customer.OpenWith(ctx, p, platform, total, dapi.USDC)
	if err != nil {
		return nil, "", err
	}
	client, err := customer.Client(ctx, p, platform)
	if err != nil {
		return nil, "", err
	}
	return account, client.ID, nil
}
