package sandbox

import (
	"encoding/hex"
	"errors"
	"iter"
	"net/http"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// AuditedPayment is everything that the host did for one idempotency key of one account. A test proves with it that a
// payment moved money once, whatever went wrong.
type AuditedPayment struct {
	// Account is the id of a client, or self for the integrator's own account.
	Account string `json:"account"`
	// Key is the idempotency key of the booking, given or derived.
	Key string `json:"key"`
	// Requests is how many requests to book a payout with this key arrived, also those that a fault or a rate window
	// stopped. Requests that a fault repeated, and requests without a key, are not counted.
	Requests int `json:"requests"`
	// Bodies is how many different bodies these requests had, byte by byte, if the host read them.
	Bodies int `json:"bodies"`
	// Confirms is how many requests to confirm a payout of the key arrived, counted in the same way.
	Confirms int `json:"confirms"`
	// PayoutIDs are the payouts that were booked for the key, oldest first. There is more than one if the key was used
	// again after its lifetime.
	PayoutIDs []string `json:"payoutIds"`
	// Approvals are the approvals that arrived with a valid signature, also if the host refused them for another
	// reason.
	Approvals []AuditedApproval `json:"approvals"`
	// Fundings is how often money left the account, Settlements how often it was paid out, and Returns how often it
	// came back, after a failure or as a refund.
	Fundings    int `json:"fundings"`
	Settlements int `json:"settlements"`
	Returns     int `json:"returns"`
	// Paid is what left the account, and Returned what came back, in units of Currency.
	Paid     decimal.Decimal `json:"paid"`
	Returned decimal.Decimal `json:"returned"`
	Currency string          `json:"currency"`
	// Status is that of the latest payout, when it last changed: awaiting_approval, also after the approval expired,
	// funding, processing, completed, failed or refunded. It is empty if nothing was booked.
	Status string `json:"status"`
}

// AuditedApproval is an approval whose signature was valid, with the terms and the price that the host had then. If the
// payout had another price already, Fee and DestinationAmount are zero.
type AuditedApproval struct {
	ID       string `json:"id"`
	PayoutID string `json:"payoutId"`
	// PayloadDigest is the SHA-256 of the signed bytes, in hexadecimal.
	PayloadDigest     string          `json:"payloadDigest"`
	Amount            decimal.Decimal `json:"amount"`
	ContactID         string          `json:"contactId"`
	Fee               decimal.Decimal `json:"fee"`
	DestinationAmount decimal.Decimal `json:"destinationAmount"`
	// Funded reports whether it moved the money.
	Funded bool `json:"funded"`
}

// Audit iterates over the payments of every account, in the order in which their first requests ended. Payments that
// change meanwhile may be seen as before or as after. It panics without [WithAudit], since a check of no payments would
// prove nothing.
func (h *Host) Audit() iter.Seq[AuditedPayment] {
	h.requireAudit()
	return func(yield func(AuditedPayment) bool) {
		for payment := range h.audit.All() {
			if !yield(auditedView(payment)) {
				return
			}
		}
	}
}

// AuditOf returns the payment with an account, which is a client's id or self, and an idempotency key. It returns false
// if the host saw no request with them. It panics without [WithAudit].
func (h *Host) AuditOf(account, key string) (AuditedPayment, bool) {
	h.requireAudit()
	payment, ok := h.audit.Payment(account, key)
	return auditedView(payment), ok
}

func (h *Host) requireAudit() {
	if h.audit == nil {
		panic(errors.New("sandbox: the host has no audit; make it with sandbox.New(sandbox.WithAudit())"))
	}
}

func auditedView(p platform.AuditedPayment) AuditedPayment {
	seen := AuditedPayment{
		Account: p.Account, Key: p.Key, Requests: p.Requests, Bodies: p.Bodies, Confirms: p.Confirms,
		PayoutIDs: p.PayoutIDs, Approvals: make([]AuditedApproval, len(p.Approvals)),
		Fundings: p.Fundings, Settlements: p.Settlements, Returns: p.Returns,
		Paid: p.Paid, Returned: p.Returned, Currency: p.Currency, Status: p.Status,
	}
	for i, a := range p.Approvals {
		seen.Approvals[i] = AuditedApproval{
			ID: a.ID, PayoutID: a.PayoutID, PayloadDigest: hex.EncodeToString(a.PayloadDigest[:]), Amount: a.Amount,
			ContactID: a.ContactID, Fee: a.Fee, DestinationAmount: a.DestinationAmount, Funded: a.Funded,
		}
	}
	return seen
}

// auditPage is how many payments a control call returns at most.
const auditPage = 1000

// readAudit returns a page of the audit. after is the number of payments before it.
func (c control) readAudit(r *http.Request) (int, any, error) {
	if c.host.audit == nil {
		return 0, nil, wire.Conflict("The host has no audit; it is made with sandbox.WithAudit.")
	}
	after := 0
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.Atoi(text); err != nil || after < 0 {
			return 0, nil, wire.InvalidField("after", "greater_than_equal", "after is a number of payments.")
		}
	}
	items := []AuditedPayment{}
	for len(items) < auditPage {
		payment, ok := c.host.audit.At(after + len(items))
		if !ok {
			break
		}
		items = append(items, auditedView(payment))
	}
	return http.StatusOK, map[string]any{"items": items, "next": after + len(items)}, nil
}

// readAuditOf returns one payment.
func (c control) readAuditOf(r *http.Request) (int, any, error) {
	if c.host.audit == nil {
		return 0, nil, wire.Conflict("The host has no audit; it is made with sandbox.WithAudit.")
	}
	payment, ok := c.host.audit.Payment(r.PathValue("account"), r.PathValue("key"))
	if !ok {
		return 0, nil, wire.NotFound()
	}
	return http.StatusOK, auditedView(payment), nil
}
