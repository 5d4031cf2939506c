// Package cases lists the kinds of work that are measured, each done by the SDK and by hand. A test checks that both
// send the same requests and read the same values.
package cases

import (
	"context"
	"fmt"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
)

// Case is one kind of work over one transport, with so many callers at once.
type Case struct {
	ID      string // such as tcp/get/64
	Group   string // such as "Loopback TCP"
	Title   string
	Callers int
	// Open prepares both sides: the library first, then the hand-written client.
	Open func() (library, hand Side, err error)
}

// Side does the work in one way, against a service of its own.
type Side struct {
	Service *service.Service
	// Read does the work once, and returns what it has read. A refusal that the work expects is what it reads.
	Read func(ctx context.Context) (any, error)
	// Opened returns how many connections the service has accepted.
	Opened func() int64
	Close  func()
}

// Call does the work once.
func (s Side) Call(ctx context.Context) error {
	_, err := s.Read(ctx)
	return err
}

// Measure compares both sides, and returns how many connections each has opened.
func (c Case) Measure(ctx context.Context, plan measure.Plan) (result measure.Result, opened [2]int64, err error) {
	library, hand, err := c.Open()
	if err != nil {
		return result, opened, fmt.Errorf("%s: %w", c.ID, err)
	}
	defer library.Close()
	defer hand.Close()
	if result, err = measure.Compare(ctx, library.Call, hand.Call, c.Callers, plan); err != nil {
		return result, opened, fmt.Errorf("%s: %w", c.ID, err)
	}
	return result, [2]int64{library.Opened(), hand.Opened()}, nil
}

// All are the cases, in the order of the table.
func All() []Case {
	var all []Case
	for _, w := range works() {
		all = append(all, w.over(Memory, 1))
	}
	for _, over := range []Transport{tcp, tls1, tls2} {
		for _, w := range works() {
			if w.overNetwork {
				all = append(all, w.over(over, 1))
			}
		}
	}
	for _, over := range []Transport{Memory, tcp, tls1, tls2} {
		for _, callers := range []int{8, 64, 512} {
			all = append(all, get().over(over, callers))
		}
	}
	for _, callers := range []int{8, 64, 512} { // a network would hide what the callers share
		all = append(all, write().over(Memory, callers))
	}
	return all
}

// over is the case of a kind of work over a transport.
func (w work) over(by Transport, callers int) Case {
	c := Case{ID: by.id + "/" + w.id, Group: by.title, Title: w.title, Callers: callers}
	if callers > 1 {
		c.ID = fmt.Sprintf("%s/%d", c.ID, callers)
		c.Group += ", many callers"
		c.Title = fmt.Sprintf("%s, %d callers", c.Title, callers)
	}
	c.Open = func() (sdk, hand Side, err error) {
		if sdk, err = by.open(w.service(), callers, w.sdk); err != nil {
			return sdk, hand, err
		}
		hand, err = by.open(w.service(), callers, w.hand)
		return sdk, hand, err
	}
	return c
}
