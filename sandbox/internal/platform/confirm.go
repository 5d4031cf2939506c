package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// ConfirmPayout funds a booked payout with its signed approval. It consumes the approval only if it funds the payout.
//
// It checks the payout's state first, then the key and the signature, then the other reasons for which the service may
// not co-sign. It does not hold the lock while it verifies the signature and reads the developer key again, so it
// checks the state again before the money moves. Of two confirms at the same time, one funds and the other is refused.
func (p *Platform) ConfirmPayout(
	ctx context.Context, payoutID platformwire.PayoutID, body platformwire.ApprovalConfirm,
) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	payload, err := p.confirmable(c, payoutID, body.ApprovalID)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := p.cosign(c, payload, body); err != nil {
		return wire.Answer{}, err
	}
	return p.fund(c, payoutID, body.ApprovalID, payload)
}

// cosign verifies a signed approval like the service before it adds its own signature. The key must be a developer key
// of the account, which is read again. Call it without the lock.
func (p *Platform) cosign(c wire.Caller, payload []byte, signed platformwire.ApprovalConfirm) error {
	check := c.Signer(signed.PublicKey)
	if check == nil {
		return wire.KeyNotRegistered()
	}
	refused := wire.CheckSignature(signed.PublicKey, payload, signed.Signature, p.settings().RequireLowS)
	if refused != nil {
		return refused
	}
	return check()
}

// confirmable returns the bytes to verify, if this approval can confirm the payout.
func (p *Platform) confirmable(c wire.Caller, payoutID, approvalID string) ([]byte, error) {
	t := p.enter()
	defer p.leave()
	booked, err := t.awaiting(c, payoutID, approvalID)
	if err != nil {
		return nil, err
	}
	return booked.approval().Payload, nil
}

// fund moves the money to the clearing account. payload is what was signed.
func (p *Platform) fund(c wire.Caller, payoutID, approvalID string, payload []byte) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	t.signed(approvalID, payload)
	booked, err := t.awaiting(c, payoutID, approvalID)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := t.fundable(booked); err != nil {
		return wire.Answer{}, err
	}
	booked.Status = platformwire.PayoutStatusFunding
	booked.Hash = newHash()
	booked.Due = t.now.Add(time.Duration(t.settings.PayoutStepAfter))
	t.inFlight.add(booked, booked.Due)
	t.kept.payouts.Put(booked)
	t.audit.Funded(booked.Account.Account, booked.Key, approvalID, booked.Terms.Amount)
	t.audit.Moved(booked.Account.Account, booked.Key, booked.ID, string(booked.Status))
	booked.traces.moved(t.books.movement("payout_funding", booked.ID, t.now).
		transfer(booked.holder.book(), bookClearing, booked.asset(), booked.Terms.Amount))
	booked.transaction = t.recordOf(booked.ID, booked.holder, platformwire.Transaction{
		Type:            platformwire.TransactionTypePayout,
		Direction:       platformwire.TransactionDirectionOut,
		Status:          platformwire.TransactionStatusPending,
		Amount:          booked.Terms.Amount,
		Currency:        booked.Terms.Currency,
		PayoutID:        booked.ID,
		TransactionHash: booked.Hash,
		CreatedAt:       t.now,
	})
	return wire.OK(booked.view(t.now)).Lean(), nil
}

// signed counts an approval with a valid signature, whatever comes of it.
func (t *turn) signed(approvalID string, payload []byte) {
	p := t.approvals[approvalID]
	if p == nil {
		return
	}
	approval := AuditedApproval{
		ID: approvalID, PayoutID: p.ID, Amount: p.Terms.Amount, ContactID: p.Terms.ContactID,
	}
	if approvalID == p.Approval.ID { // or else the payout has another price now
		approval.Fee, approval.DestinationAmount = p.Quote.Fee, p.Quote.DestinationAmount
	}
	t.audit.Signed(p.Account.Account, p.Key, approval, payload)
}

// awaiting returns a payout that waits for this approval, or the refusal for its state.
func (t *turn) awaiting(c wire.Caller, payoutID, approvalID string) (*payout, error) {
	h, err := t.holderOf(c)
	if err != nil {
		return nil, err
	}
	booked, err := t.payoutOf(h, payoutID)
	switch {
	case err != nil:
		return nil, err
	case t.approvals[approvalID] != booked:
		return nil, wire.ApprovalMismatch()
	case booked.Status == platformwire.PayoutStatusFunding:
		return nil, wire.FundingInProgress()
	case booked.Status == platformwire.PayoutStatusProcessing, booked.Status == platformwire.PayoutStatusCompleted:
		return nil, wire.AlreadyFunded(booked.ID, booked.Hash)
	case booked.Status == platformwire.PayoutStatusFailed, booked.Status == platformwire.PayoutStatusRefunded:
		return nil, wire.ApprovalConsumed()
	case booked.expired(t.now), approvalID != booked.Approval.ID:
		return nil, wire.FundingAttemptExpired()
	case booked.stale(t.now):
		return nil, wire.QuoteExpired()
	default:
		return booked, nil
	}
}

// fundable refuses a payout that the service would not co-sign, or that the balance does not cover.
func (t *turn) fundable(booked *payout) error {
	if err := t.signable(booked.holder); err != nil {
		return err
	}
	available := t.books.balance(booked.holder.book(), booked.asset())
	if available.LessThan(booked.Terms.Amount) {
		return wire.PayoutNotFundable("The balance does not cover the payout.", map[string]any{
			"available": available.String(),
			"currency":  booked.asset(),
		})
	}
	return nil
}

// signable refuses what the service would not co-sign.
func (t *turn) signable(h *holder) error {
	switch {
	case !t.ready(h):
		return wire.WalletNotLinked()
	case t.settings.SignerDetached:
		return wire.SignerNotAttached()
	case t.settings.SigningPolicy == deployment.SigningPolicyRefuse:
		return wire.SigningPolicyRefused()
	default:
		return nil
	}
}
