package refapi_test

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

var paid = moneymovement.InvoiceUpdate{Status: moneymovement.InvoiceStatusPaid}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }
