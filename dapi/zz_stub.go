package dapi

import (
	"context"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

type paymentLine struct{}

func (*paymentLine) enter(ctx context.Context) (func(), error) { return func() {}, nil }

func reserved(*transport.Call) {}
