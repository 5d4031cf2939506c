package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// reserveConfirm waits for room in the rate window to confirm an approval, so that a signature never waits in a queue.
// It returns a lowLevel for the confirm, which must follow at once. If the approval closes before there is room, the
// error is *signing.ApprovalRefused, the same as for an approval that has closed already.
func (c lowLevel) reserveConfirm(
	ctx context.Context, op *transport.Operation, approval *Approval, options []moneymovement.CallOption,
) (lowLevel, error) {
	if !c.transport.ServiceNow().Before(approval.ExpiresAt) {
		return c, nil // only the service can say that it is over, and no room would be in time
	}
	c.call.Class, c.call.Closes = moneymovement.ClassConfirm, approval.ExpiresAt
	queued, err := c.transport.Reserve(ctx, op, c.callOf(moneymovement.CallSettingsOf(options...)))
	if noRoom, ok := errors.AsType[*moneymovement.NoRoom](err); ok && noRoom.Closed {
		return c, &signing.ApprovalRefused{
			ApprovalID: approval.ID, Field: "expiresAt", Expired: true,
			Reason: "there is no room in the rate window before the approval expires; prepare the operation again",
		}
	}
	c.call.Reserved, c.call.Queued = true, queued
	return c, err
}
