package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// reserveConfirm waits for room in the rate window to confirm an approval, so that a signature never waits in a queue.
// It returns the options for the confirm, which must follow at once. If the approval closes before there is room, the
// error is *signing.ApprovalRefused, the same as for an approval that has closed already.
func (c lowLevel) reserveConfirm(
	ctx context.Context, op *transport.Operation, approval *Approval, options []moneymovement.CallOption,
) ([]moneymovement.CallOption, error) {
	if !c.transport.ServiceNow().Before(approval.ExpiresAt) {
		return options, nil // only the service can say that it is over, and no room would be in time
	}
	call := transport.CallOf(options)
	call.Class, call.Closes = transport.ClassConfirm, approval.ExpiresAt
	c.authorize(&call)
	queued, err := c.transport.Reserve(ctx, op, call)
	if tooLong, ok := errors.AsType[*transport.WaitTooLong](err); ok && tooLong.Closed {
		return nil, &signing.ApprovalRefused{
			ApprovalID: approval.ID, Field: "expiresAt", Expired: true,
			Reason: "there is no room in the rate window before the approval expires; prepare the operation again",
		}
	}
	if err != nil {
		return nil, err
	}
	return append(options[:len(options):len(options)], func(c *transport.Call) {
		c.Class, c.Closes, c.Reserved, c.Queued = call.Class, call.Closes, true, queued
	}), nil
}
