package dapi

import "github.com/moneymovement/moneymovement-go/errors"

// What a flow ends in is asked the same questions as what a call ends in.
var (
	_ errors.Failure = (*StillPending)(nil)
	_ errors.Failure = (*PayinNotCompleted)(nil)
	_ errors.Failure = (*ChannelUnavailable)(nil)
	_ errors.Failure = (*RailNotListed)(nil)
	_ errors.Failure = (*EscrowNotOpened)(nil)
)
