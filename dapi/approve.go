package dapi

import (
	"bytes"
	"cmp"
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// approver signs what the service prepared, for one account, if it is what the caller wants.
type approver struct {
	low     lowLevel
	account string // a client's id, or self
	clock   *transport.Client
	seen    *signing.SeenApprovals // of the developer's key, so that no login signs one of them
}

// now is the service's time, reckoned from the dates of its answers.
func (a approver) now() time.Time { return a.clock.ServiceNow() }

// latest is the service's time, or the date of its last answer if that is later.
func (a approver) latest() time.Time {
	now, byLastAnswer := a.clock.ServiceTimes()
	if byLastAnswer.After(now) {
		return byLastAnswer
	}
	return now
}

// checkedApproval is what the caller wants, and not signed yet.
type checkedApproval struct {
	id  string
	key signing.Signer
	*signing.CheckedApproval
}

// confirm compares an approval with what was asked for, waits for the room to send its confirm, signs it, and gives the
// body of that call and its options. The signer is not called on any difference, and nothing is signed that then waits
// in line. allowExpired signs an approval that this machine takes for over.
func (a approver) confirm(ctx context.Context, low lowLevel, op *transport.Operation, approval *Approval,
	want signing.Intent, allowExpired bool,
	options []moneymovement.CallOption,
) (*ApprovalConfirm, []moneymovement.CallOption, error) {
	if approval != nil {
		window := escrowApproval
		if op == &opConfirmPayout {
			window = payoutApproval
		}
		dated := *approval // the caller's own stays as it is
		a.seen.Add(dated.Payload)
		dated.ExpiresAt = a.endOf(approval, window)
		approval = &dated
	}
	var signed []signing.ApprovalOption
	if allowExpired {
		signed = append(signed, signing.AllowExpired())
	}
	checked, err := a.check(ctx, approval, want, signed...)
	if err != nil {
		return nil, nil, a.unsigned(op, want, err)
	}
	if options, err = low.reserveConfirm(ctx, op, approval, options); err != nil {
		return nil, nil, err
	}
	body, err := checked.confirm(ctx)
	if err != nil {
		return nil, nil, a.unsigned(op, want, err)
	}
	return body, options, nil
}

// unsigned says of an error of signing which confirm was not sent for it.
func (a approver) unsigned(op *transport.Operation, want signing.Intent, err error) error {
	head := op.Head("")
	head.Resource = want.ResourceID
	if a.account != "self" {
		head.Account = a.account
	}
	if refused, ok := errors.AsType[*signing.ApprovalRefused](err); ok {
		named := *refused // which can be a verifier's own, and shared
		named.CallInfo = head
		return &named
	}
	return &errors.NotDelivered{CallInfo: head, Err: err}
}

// check compares, and signs nothing. Where the time in use and the last answer's differ, one of them is wrong and
// nobody here knows which, so that a window may be right by either.
func (a approver) check(
	ctx context.Context, approval *Approval, want signing.Intent, options ...signing.ApprovalOption,
) (*checkedApproval, error) {
	if approval == nil {
		return nil, &signing.ApprovalRefused{Field: "approval", Reason: "the service prepared no approval to sign"}
	}
	want.Account = a.account
	developer := a.low.session().developer
	options = append([]signing.ApprovalOption{signing.VerifyWith(developer.Verifier)}, options...)
	prepared := signing.Approval{ID: approval.ID, Payload: approval.Payload, ExpiresAt: approval.ExpiresAt}
	now, byLastAnswer := a.clock.ServiceTimes()
	checked, err := signing.PrepareApproval(ctx, developer.Key, prepared, want, now, options...)
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	if ok && refused.Field == "expiresAt" && !now.Equal(byLastAnswer) {
		checked, err = signing.PrepareApproval(ctx, developer.Key, prepared, want, byLastAnswer, options...)
	}
	if err != nil {
		return nil, err
	}
	return &checkedApproval{id: approval.ID, key: developer.Key, CheckedApproval: checked}, nil
}

// confirm signs, and checks nothing again.
func (c *checkedApproval) confirm(ctx context.Context) (*ApprovalConfirm, error) {
	signature, err := c.Sign(ctx)
	if err != nil {
		return nil, err
	}
	return &ApprovalConfirm{ApprovalID: c.id, PublicKey: c.key.PublicKey(), Signature: signature}, nil
}

// note remembers an approval as soon as the service answered it, whether or not it will be signed. One that does not
// say when it ends gets the end that its payload says, or that of the stated window from now on.
func (a approver) note(approval *Approval, window time.Duration) {
	if approval != nil {
		a.seen.Add(approval.Payload)
		if approval.ExpiresAt.IsZero() {
			approval.ExpiresAt = a.endOf(approval, window)
		}
	}
}

// endOf is when an approval ends. Its payload can say it more exactly: the answer around it may leave out the seconds,
// or their fraction.
func (a approver) endOf(approval *Approval, window time.Duration) time.Time {
	var said struct {
		ExpiresAt time.Time `json:"expiresAt"`
	}
	_ = jsonv2.Unmarshal(approval.Payload, &said) // invalid JSON leaves it empty
	end := approval.ExpiresAt
	switch {
	case end.IsZero():
		return cmp.Or(said.ExpiresAt, a.now().Add(window))
	case said.ExpiresAt.Truncate(time.Minute).Equal(end), said.ExpiresAt.Truncate(time.Second).Equal(end):
		return said.ExpiresAt
	}
	return end
}

// same reports that another approval has the same id and signs the same bytes. Its end may be reckoned, from when it
// came.
func (a *Approval) same(other *Approval) bool {
	return a != nil && other != nil && a.ID == other.ID && bytes.Equal(a.Payload, other.Payload)
}

// notePayout passes an answer on, and remembers its approval.
func (a approver) notePayout(payout *Payout, err error) (*Payout, error) {
	if err == nil && payout != nil {
		a.note(payout.Approval, payoutApproval)
	}
	return payout, err
}

// noteDeal passes an answer on, and remembers the approval of its action.
func (a approver) noteDeal(deal *Escrow, err error) (*Escrow, error) {
	if err == nil && deal != nil && deal.Action != nil {
		a.note(deal.Action.Approval, escrowApproval)
	}
	return deal, err
}
