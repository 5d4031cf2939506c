package dapi_test

import (
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/oracle"
)

// ended records how a call of Pay, Open or Act ended.
func (w *world) ended(err error) {
	if err == nil {
		w.Case.Ended(oracle.End{State: string(dapi.PaymentPaid)})
		return
	}
	call, _ := errors.CallInfoOf(err)
	w.Case.Ended(oracle.End{
		State: string(dapi.PaymentStateOf(nil, err)), Unpaid: !dapi.MayHavePaid(nil, err),
		RetryAt: call.RetryAt, Err: err,
	})
}
