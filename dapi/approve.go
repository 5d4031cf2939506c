package dapi

import (
	"context"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// approver signs what the service prepared, for one account, if it is what the caller wants.
type approver struct {
	developer Developer
	account   string           // a client's id, or self
	now       func() time.Time // by the service's clock
}

// confirm compares an approval with what was asked for, signs it, and gives the body of the confirm call. The signer is not called
// on any difference.
func (a approver) confirm(ctx context.Context, approval *Approval, want signing.Intent) (*ApprovalConfirm, error) {
	if approval == nil {
		return nil, &signing.ApprovalRefused{
			Head: a.head(want), Field: "approval", Reason: "the service prepared no approval to sign",
		}
	}
	want.Account = a.account
	signature, err := signing.SignApproval(ctx, a.developer.Key,
		signing.Approval{ID: approval.ID, Payload: approval.Payload, ExpiresAt: approval.ExpiresAt},
		want, a.now(), signing.VerifyWith(a.developer.Verifier))
	if err != nil {
		return nil, a.unsigned(err, want)
	}
	return &ApprovalConfirm{ApprovalID: approval.ID, PublicKey: a.developer.Key.PublicKey(), Signature: signature}, nil
}

// unsigned tells of an error of signing whose call it ended. Nothing was sent.
func (a approver) unsigned(err error, want signing.Intent) error {
	if refused, ok := errors.AsType[*signing.ApprovalRefused](err); ok {
		named := *refused // which can be a verifier's own, and shared
		named.Head = a.head(want)
		return &named
	}
	return &errors.NotDelivered{Head: a.head(want), Err: err}
}

// head is that of the confirm for which a signature is wanted.
func (a approver) head(want signing.Intent) errors.Head {
	op := &opConfirmPayout
	if strings.HasPrefix(want.Operation, "escrow.") {
		op = &opConfirmEscrowAction
	}
	head := op.Head("")
	head.Resource = want.ResourceID
	if a.account != "self" {
		head.Account = a.account
	}
	return head
}
