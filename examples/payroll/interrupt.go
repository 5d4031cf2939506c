package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/examples/internal/interrupted"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

// interrupted runs the payroll in another process, which is killed in the middle.
func (s *settings) interrupted(ctx context.Context, p *program.Program) error {
	err := interrupted.Run(ctx, p, s.interruptAfter, "-file", s.fileFlag, "-run", s.run, "-store", s.store,
		"-workers", strconv.Itoa(s.workers), "-settle", s.settle.String())
	if err == nil {
		p.Step("second start: the same run, and the same file of payments")
	}
	return err
}

// audit compares the host's books with the file: as many payouts as people, and the same sum.
func audit(p *program.Program, people []person, total decimal.Decimal) error {
	left, sum := interrupted.Paid(p.Host), decimal.Zero
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
