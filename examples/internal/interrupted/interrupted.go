// Package interrupted runs a program in another process, and kills that process at the worst moment: a payment was
// confirmed, the money has left, and the response is lost. A program that pays must survive this.
package interrupted

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Run starts the program again in another process with these arguments, and kills it when this number of payments has
// left. It returns nil also if the process ended before that.
func Run(ctx context.Context, p *program.Program, payments int, args ...string) error {
	first, err := p.Again(ctx, args...)
	if err != nil {
		return err
	}
	output, err := first.StdoutPipe()
	if err != nil {
		return err
	}
	p.Step("first start: another process, which is killed when payment %d has left", payments)
	if err := first.Start(); err != nil {
		return err
	}
	running, ended := context.WithCancel(ctx)
	defer ended()
	faults := p.Host.Intercept(loseConfirm(payments))
	defer faults.End()
	go func() {
		if lost(running, faults) {
			_ = first.Process.Kill()
		}
	}()
	for lines := bufio.NewScanner(output); lines.Scan(); {
		p.Detail("%s", lines.Text())
	}
	err = first.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		return err // nil if everything was paid before
	}
	p.Step("killed: %d payments have left, and the program has seen the response to %d of them", len(Paid(p.Host)),
		Confirmed(p.Host))
	return nil
}

// loseConfirm loses the response to a confirm, counted from 1. It holds up the confirms after it, so that the process
// is killed before it has paid everything. When it is killed, the host carries them out.
func loseConfirm(number int) func(sandbox.Request) sandbox.Fault {
	var mu sync.Mutex
	var confirms int
	return func(r sandbox.Request) sandbox.Fault {
		if r.Operation != "ConfirmPayout" {
			return sandbox.Fault{}
		}
		mu.Lock()
		defer mu.Unlock()
		confirms++
		switch {
		case confirms == number:
			return sandbox.DropAfterCommit()
		case confirms > number:
			return sandbox.Delay(time.Minute)
		}
		return sandbox.Fault{}
	}
}

// lost returns true when a response is lost, and false if ctx ends before.
func lost(ctx context.Context, faults *sandbox.Interception) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for faults.Consumed()["drop_after_commit"] == 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Confirmed returns how many confirms the host has responded to.
func Confirmed(host *sandbox.Host) (count int) {
	for _, request := range host.Requests() {
		if request.Operation == "ConfirmPayout" && request.Status == http.StatusOK {
			count++
		}
	}
	return count
}

// Paid returns what left the clients' accounts in the host's books, by payout.
func Paid(host *sandbox.Host) map[string]decimal.Decimal {
	left := map[string]decimal.Decimal{}
	for _, entry := range host.Ledger().Entries {
		if strings.HasPrefix(entry.Account, "cl_") && strings.HasPrefix(entry.ResourceID, "po_") {
			left[entry.ResourceID] = left[entry.ResourceID].Sub(entry.Amount)
		}
	}
	return left
}
