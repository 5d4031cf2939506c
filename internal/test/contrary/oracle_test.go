package contrary_test

import (
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/oracle"
)

// ended records how any call ended.
func ended(record *oracle.Case, err error) {
	moved := errors.Moved
	if err != nil {
		moved = errors.MaybeMoved
		if failure, typed := errors.AsType[errors.Failure](err); typed {
			moved = failure.MovedByCall()
		}
	}
	call, _ := errors.CallInfoOf(err)
	record.Ended(oracle.End{State: string(moved), RetryAt: call.RetryAt, Err: err})
}
