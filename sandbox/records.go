package sandbox

import (
	"net/http"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// Records is how many records the host keeps: accounts and their keys, sessions,
// clients, contacts, payouts with their approvals, payins, deals, transactions,
// entries of the ledger, idempotency keys, quotes, transfers, documents,
// contracts, invoices, cards, events and armed faults, counted one by one. The
// request log and the challenges of logins have bounds of their own.
func (h *Host) Records() int {
	kept := 0
	for _, store := range []interface{ Records() int }{
		h.registry, h.tokens, h.appKeys, h.platform, h.app, h.billing, h.cards, &h.faults,
	} {
		kept += store.Records()
	}
	return kept
}

// room refuses what would make the host keep more, once it keeps as much as
// [Settings.MaxRecords] allows.
func (h *Host) room() error {
	if limit := h.configured.get().MaxRecords; h.Records() >= limit {
		return refuse.Full(limit)
	}
	return nil
}

// ifRoom makes a control call, or refuses it.
func (c control) ifRoom(call func(*http.Request) (int, any, error)) func(*http.Request) (int, any, error) {
	return func(r *http.Request) (int, any, error) {
		if err := c.host.room(); err != nil {
			return 0, nil, err
		}
		return call(r)
	}
}
