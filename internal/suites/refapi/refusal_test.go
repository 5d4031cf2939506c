package refapi_test

import (
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

var paid = model.InvoiceUpdate{Status: model.InvoiceStatusPaid}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }
