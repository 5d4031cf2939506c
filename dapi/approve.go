package dapi

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
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
func (a approver) confirm(ctx context.Context, op *transport.Operation, approval *Approval, want signing.Intent, evenIfOver bool) (*ApprovalConfirm, error) {
	if approval == nil {
		return nil, &signing.ApprovalRefused{Field: "approval", Reason: "the service prepared no approval to sign"}
	}
	want.Account = a.account
	now := a.now()
	if evenIfOver && now.After(approval.ExpiresAt) {
		now = approval.ExpiresAt.Add(-time.Second)
	}
	signature, err := signing.SignApproval(ctx, a.developer.Key,
		signing.Approval{ID: approval.ID, Payload: approval.Payload, ExpiresAt: approval.ExpiresAt},
		want, now, signing.VerifyWith(a.developer.Verifier))
	if err != nil {
		return nil, err
	}
	return &ApprovalConfirm{ApprovalID: approval.ID, PublicKey: a.developer.Key.PublicKey(), Signature: signature}, nil
}
