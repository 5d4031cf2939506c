package worlds

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/oracle"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// PayEnded records how a call of Pay ended.
func (w *World) PayEnded(p dapi.Payment, err error) (dapi.Payment, error) {
	w.Case.Ended(oracle.End{State: string(p.State), Unpaid: p.Unpaid, RetryAt: p.RetryAt, Err: err})
	return p, err
}

// DealEnded records how a call of Open or Act ended.
func (w *World) DealEnded(d dapi.Deal, err error) (dapi.Deal, error) {
	w.Case.Ended(oracle.End{State: string(d.State), Unpaid: d.Unpaid, RetryAt: d.RetryAt, Err: err})
	return d, err
}

// Context is that of the test. If the calls are recorded, two runs have the same pauses.
func (w *World) Context() context.Context {
	if w.Case == nil {
		return w.T.Context()
	}
	return transport.WithRandom(w.T.Context(), func(below time.Duration) time.Duration { return below / 2 })
}
