package public_test

import (
	"github.com/moneymovement/moneymovement-go/errors"
)

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }
