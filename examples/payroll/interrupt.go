package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// interrupted runs the payroll in another process, and kills that process at the worst moment: a payment was confirmed,
// the money has left, and the response is lost. A program that pays people must survive this.
func (s *settings) interrupted(ctx context.Context, p *program.Program) error {
	first, err := p.Again(ctx, "-file", s.fileFlag, "-run", s.run, "-results", s.results,
		"-workers", strconv.Itoa(s.workers), "-settle", s.settle.String())
	if err != nil {
		return err
	}
	output, err := first.StdoutPipe()
	if err != nil {
		return err
	}
	p.Step("first start: another process, which is killed when payment %d has left", s.interruptAfter)
	if err := first.Start(); err != nil {
		return err
	}
	running, ended := context.WithCancel(ctx)
	defer ended()
	go func() {
		if lastResponseLost(running, p.Host, s.interruptAfter) {
			_ = first.Process.Kill()
		}
	}()
	for lines := bufio.NewScanner(output); lines.Scan(); {
		p.Detail("%s", lines.Text())
	}
	err = first.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		return err // nil if everybody was paid before
	}
	p.Step("killed: %d payments have left, and the program has seen the response to %d of them",
		len(paid(p.Host)), confirmed(p.Host))
	p.Step("second start: the same run, and the same results file")
	return nil
}

// lastResponseLost returns true when this number of payments has left, and the response to the last one is lost.
func lastResponseLost(ctx context.Context, host *sandbox.Host, payments int) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var lost *sandbox.ArmedFault
	for lost == nil || lost.Consumed() == 0 {
		if lost == nil && confirmed(host) >= payments-1 {
			lost = host.Arm(http.MethodPost, "/dapi/v1/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// confirmed returns how many confirms the host has responded to.
func confirmed(host *sandbox.Host) (count int) {
	for _, request := range host.Requests() {
		if request.Operation == "ConfirmPayout" && request.Status == http.StatusOK {
			count++
		}
	}
	return count
}

// paid returns what left the client's account in the host's books, by payout.
func paid(host *sandbox.Host) map[string]decimal.Decimal {
	left := map[string]decimal.Decimal{}
	for _, entry := range host.Ledger().Entries {
		if strings.HasPrefix(entry.Account, "cl_") && strings.HasPrefix(entry.ResourceID, "po_") {
			left[entry.ResourceID] = left[entry.ResourceID].Sub(entry.Amount)
		}
	}
	return left
}

// audit compares the host's books with the file: as many payouts as people, and the same sum.
func audit(p *program.Program, people []person, total decimal.Decimal) error {
	left, sum := paid(p.Host), decimal.Zero
	for _, amount := range left {
		sum = sum.Add(amount)
	}
	if len(left) != len(people) || !sum.Equal(total) {
		return fmt.Errorf("the host's books have %d payouts with %s USDC in all, not %d with %s", len(left), sum,
			len(people), total)
	}
	p.Step("the host's books: %d payouts for %d people, %s USDC in all; nobody was paid twice", len(left), len(people),
		sum.StringFixed(2))
	return nil
}
