package platform

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	payload, err := p.payloadToSign(c, payoutID, body.ApprovalID)
	if err != nil {
		return wire.Response{}, err
	}
	if err := p.verifyApproval(c, payload, body); err != nil {
		return wire.Response{}, err
	}
	return p.fund(c, payoutID, body.ApprovalID, payload)
}

// verifyApproval verifies a signed approval, as the service does before it adds its own signature. The key must be a
// developer key of the account, which is read again. Call it without the lock.
func (p *Platform) verifyApproval(c wire.Caller, payload []byte, signed platformwire.ApprovalConfirm) error {
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

// payloadToSign returns the bytes to verify, if this approval can confirm the payout.
func (p *Platform) payloadToSign(c wire.Caller, payoutID, approvalID string) ([]byte, error) {
	t := p.begin()
	defer p.commit()
	booked, err := t.confirmablePayout(c, payoutID, approvalID)
	if err != nil {
		return nil, err
	}
	return booked.approval().Payload, nil
}

// fund moves the money to the clearing account. payload is what was signed.
func (p *Platform) fund(c wire.Caller, payoutID, approvalID string, payload []byte) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	t.auditApproval(approvalID, payload)
	booked, err := t.confirmablePayout(c, payoutID, approvalID)
	if err != nil {
		return wire.Response{}, err
	}
	if err := t.checkFundable(booked); err != nil {
		return wire.Response{}, err
	}
	booked.Status = platformwire.PayoutStatusFunding
	booked.Hash = newHash()
	booked.Due = t.now.Add(time.Duration(t.settings.PayoutStepAfter))
	t.inFlight.add(booked, booked.Due)
	t.store.payouts.Put(booked)
	t.audit.Funded(booked.Account.Account, booked.Key, approvalID, booked.Terms.Amount)
	t.audit.Moved(booked.Account.Account, booked.Key, booked.ID, string(booked.Status))
	booked.traces.addMovement(t.ledger.movement("payout_funding", booked.ID, t.now).
		transfer(booked.holder.ledgerAccount(), accountClearing, booked.asset(), booked.Terms.Amount))
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

// auditApproval counts an approval with a valid signature, also if the payout is then refused.
func (t *txn) auditApproval(approvalID string, payload []byte) {
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

// confirmablePayout returns a payout that waits for this approval, or why it does not.
func (t *txn) confirmablePayout(c wire.Caller, payoutID, approvalID string) (*payout, error) {
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
	case booked.needsNewPrice(t.now):
		return nil, wire.QuoteExpired()
	default:
		return booked, nil
	}
}

// checkFundable refuses a payout that the service would not co-sign, or that the balance does not cover.
func (t *txn) checkFundable(booked *payout) error {
	if err := t.checkSignable(booked.holder); err != nil {
		return err
	}
	available := t.ledger.balance(booked.holder.ledgerAccount(), booked.asset())
	if available.LessThan(booked.Terms.Amount) {
		return wire.PayoutNotFundable("The balance does not cover the payout.", map[string]any{
			"available": available.String(),
			"currency":  booked.asset(),
		})
	}
	return nil
}

// checkSignable refuses what the service would not co-sign.
func (t *txn) checkSignable(h *holder) error {
	switch {
	case !t.hasWallet(h):
		return wire.WalletNotLinked()
	case t.settings.SignerDetached:
		return wire.SignerNotAttached()
	case t.settings.SigningPolicy == deployment.SigningPolicyRefuse:
		return wire.SigningPolicyRefused()
	default:
		return nil
	}
}

// approvalPayload is the content that a developer key signs to fund a payout or to act on an escrow, as RFC 8785
// canonical JSON.
type approvalPayload struct {
	ApprovalID  string              `json:"approvalId"`
	Operation   string              `json:"operation"`
	ResourceID  string              `json:"resourceId"`
	Account     string              `json:"account"`
	Amount      string              `json:"amount"`
	Currency    string              `json:"currency"`
	Destination approvalDestination `json:"destination"`
	ExpiresAt   time.Time           `json:"expiresAt"`
	Nonce       string              `json:"nonce"`
}

// approvalDestination is where the money goes: a payout's contact, or an escrow's payee.
type approvalDestination struct {
	ContactID string `json:"contactId,omitzero"`
	Address   string `json:"address,omitzero"`
	ChainID   int64  `json:"chainId,omitzero"` // only if the booking named it
}

// approval is an issued approval without its payload. The payload is long, and it can be computed from the payout.
type approval struct {
	ID, Nonce string
	ExpiresAt time.Time
}

// newApproval returns an approval with a window's end.
func newApproval(expires time.Time) approval {
	return approval{ID: newID("apr_"), Nonce: rand.Text(), ExpiresAt: expires}
}

// of returns the approval with its payload. The same content gives the same bytes.
func (a approval) of(content approvalPayload) platformwire.Approval {
	content.ApprovalID, content.ExpiresAt, content.Nonce = a.ID, a.ExpiresAt, a.Nonce
	text, err := json.Marshal(content)
	canonical := jsontext.Value(text)
	if err == nil {
		err = canonical.Canonicalize()
	}
	if err != nil {
		panic(err) // the content has a time, and texts that were read from JSON
	}
	return platformwire.Approval{ID: a.ID, Payload: canonical, ExpiresAt: a.ExpiresAt}
}
