package sandbox

import (
	"maps"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
)

// Request is one request as the host saw it. It holds no secret: no body, and no header but the idempotency key. A
// method or path of more than 1,024 bytes is cut off, and ends with "…".
type Request struct {
	// ID is the number of the request, from 1. [Host.Reset] does not begin again.
	ID             int
	Time           time.Time // on the host's clock
	Method         string
	Path           string
	Operation      string // the operationId, such as ConfirmPayout; empty if the request reached no operation
	Status         int    // 0 if the connection was closed without a response
	Slug           string // of a refused request
	RequestID      string
	IdempotencyKey string
	Account        string // a client's id, or self; empty without a session
	Fault          string // the kind of fault that happened to it, such as drop_after_commit

	// ResourceID is the last id in the path, such as that of a payout.
	ResourceID string
	// Attempt says how often a request with the same method, path, X-Service-Account and Idempotency-Key has arrived,
	// from 1. The host counts the latest 262,144 different requests.
	Attempt int
	// Repeated reports that the request arrived a second time, through [DeliverTwice] or [ProxyRetry]. Nobody gets the
	// response to a duplicate: Status is that of the response which the host dropped.
	Repeated bool
	// BodyDigest is the same for the same bytes, and says nothing else about them. It is empty without a body, and if
	// the host did not read the body. Digests of two hosts cannot be compared.
	BodyDigest string
	// Replayed reports that the operation did nothing, because an earlier request did it: the response is that of the
	// earlier request, which had the same idempotency key, or the same content.
	Replayed bool
	// Duration is how long the host took until it had a response, on the machine's clock.
	Duration time.Duration
}

// Requests returns the latest requests, oldest first, and at most 4,096 of them. [WithRequestLog] changes how many.
func (h *Host) Requests() []Request {
	entries := h.log.Entries()
	requests := make([]Request, len(entries))
	for i, entry := range entries {
		requests[i] = Request(entry.Request)
	}
	return requests
}

// WithRequestObserver calls observe with each request for the service, also with those that a fault repeats, in the
// order in which the host has responses for them. The response is sent after observe returns. The host holds no lock
// during the call, and observe must be safe for concurrent use. Calls of the host's controls are not observed.
func WithRequestObserver(observe func(Request)) Option {
	return func(s *setup) {
		if s.observe = nil; observe != nil {
			s.observe = func(entry gate.Entry) { observe(Request(entry.Request)) }
		}
	}
}

// LedgerEntry is one side of a movement of money. The entries of a movement add up to zero in each currency.
type LedgerEntry struct {
	// Account is the id of a client, an integrator or an escrow, or an account of the host itself: faucet, clearing,
	// fees or outside.
	Account string
	// Amount is what the account gains, in units of the currency. It is negative if the account gives.
	Amount decimal.Decimal
	// Currency is the asset, such as USDC.
	Currency string
	// Movement is the same for all entries of one movement.
	Movement string
	// Kind says why the money moved, such as deposit, payout_funding, payout_settlement or payout_return.
	Kind string
	// ResourceID is the id of the payout, payin or escrow, if there is one.
	ResourceID string
	// At is when the money moved, on the host's clock.
	At time.Time
}

// Ledger is a copy of the host's double-entry ledger: what one account receives, another pays.
type Ledger struct {
	// Entries are all entries, oldest first.
	Entries []LedgerEntry
	// Sums has the total of all entries for each currency. Each total is zero.
	Sums map[string]decimal.Decimal
	// Balances has what each account holds, by account and currency: Balances["cl_1"]["USDC"]. An account or currency
	// without entries is missing; reading it returns zero.
	Balances map[string]map[string]decimal.Decimal
}

// Ledger returns a copy of the ledger as of now. While a payout is under way, its money is in the account named
// clearing.
func (h *Host) Ledger() Ledger {
	books := h.platform.Ledger()
	entries := make([]LedgerEntry, len(books.Entries))
	for i, entry := range books.Entries {
		entries[i] = LedgerEntry{
			Account: entry.Account, Amount: entry.Amount, Currency: entry.Currency,
			Movement: entry.Movement, Kind: entry.Kind, ResourceID: entry.ResourceID, At: entry.At,
		}
	}
	return Ledger{Entries: entries, Sums: books.Sums, Balances: books.Balances}
}

// WalletLogin is a login with a wallet at the reference endpoints.
type WalletLogin struct {
	Account string // the integrator's id
	Wallet  string // its address
	// DeviceID, DeviceType and DeviceName are how the device describes itself. If DeviceType or DeviceName is not sent,
	// it is ios.
	DeviceID, DeviceType, DeviceName string
	At                               time.Time // on the host's clock
}

// WalletLogins returns the wallet logins, oldest first.
func (h *Host) WalletLogins() []WalletLogin {
	taken := h.account.Logins()
	logins := make([]WalletLogin, len(taken))
	for i, login := range taken {
		logins[i] = WalletLogin(login)
	}
	return logins
}

// PartnerEvent is an event that a partner sent to its webhook at the reference endpoints.
type PartnerEvent struct {
	Partner                         string // the partner's name, from the path
	EventType, EntityID, EntityType string
	CreatedAt                       string // as the partner wrote it
	Payload                         map[string]any
	At                              time.Time // when it arrived, on the host's clock
}

// PartnerEvents returns the events that partners sent, oldest first.
func (h *Host) PartnerEvents() []PartnerEvent {
	taken := h.account.Events()
	events := make([]PartnerEvent, len(taken))
	for i, event := range taken {
		events[i] = PartnerEvent(event)
		events[i].Payload = maps.Clone(event.Payload)
	}
	return events
}
