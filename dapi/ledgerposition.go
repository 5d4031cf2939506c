package dapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// LedgerPosition says which changes of a ledger were delivered: see [Transactions.Changes]. It is a value: copy it, keep
// it, and store it as JSON. The zero value is the beginning of the ledger, and [LedgerPositionAt] is any other start.
//
// A position belongs to one account. It holds the id, time and status of each entry that has not settled, some 20,000 at
// most, and 12 characters for each settled entry of the last [ChangesParams].LateBy, 5,000 at most. The JSON of a quiet
// account has a few hundred bytes, and about 100 more for each payout that is under way. It holds no amounts and no
// secrets.
type LedgerPosition struct {
	base *ledgerState // nil for the beginning
	then []ledgerStep // what was delivered since
}

// LedgerPositionAt is a start in the middle of a ledger: entries that were created before t are never delivered, also if
// they change later. To be sure of those that are pending at t, choose an earlier time.
func LedgerPositionAt(t time.Time) LedgerPosition {
	return LedgerPosition{base: &ledgerState{Edge: t}}
}

// The bounds of a position.
const (
	maxPendingKept = 20_000
	maxSettledKept = 5_000
)

// ledgerState is what a position knows. It is not changed once it is part of one.
type ledgerState struct {
	Account string // that it belongs to; empty before it was used
	// Edge is before all that is looked for: an entry that was created earlier, and is not pending here, is known.
	Edge    time.Time
	Pending map[TransactionID]pendingEntry
	Settled map[string]settledEntry // by digest
}

type pendingEntry struct {
	Created time.Time
	Status  TransactionStatus
}

type settledEntry struct {
	Second int64 // of its creation, in Unix time
	Status TransactionStatus
}

// ledgerStep is one change that was delivered.
type ledgerStep struct {
	id      TransactionID
	created time.Time
	status  TransactionStatus
	watched bool      // it has not settled, and is looked at again
	edge    time.Time // what it moves the edge to, if that is later
}

// state is what the position knows, in maps of its own.
func (p LedgerPosition) state() *ledgerState {
	known := &ledgerState{Pending: map[TransactionID]pendingEntry{}, Settled: map[string]settledEntry{}}
	if p.base != nil {
		known.Account, known.Edge = p.base.Account, p.base.Edge
		maps.Copy(known.Pending, p.base.Pending)
		maps.Copy(known.Settled, p.base.Settled)
	}
	for _, step := range p.then {
		known.take(step)
	}
	known.forget()
	return known
}

func (k *ledgerState) take(step ledgerStep) {
	delete(k.Pending, step.id)
	if step.watched {
		k.Pending[step.id] = pendingEntry{step.created, step.status}
	} else {
		k.Settled[digestOf(step.id)] = settledEntry{step.created.Unix(), step.status}
	}
	if step.edge.After(k.Edge) {
		k.Edge = step.edge
	}
}

// forget drops the settled entries before the edge, which are known by their time alone. If there are still too many, it
// moves the edge.
func (k *ledgerState) forget() {
	before := k.Edge.Unix()
	if len(k.Settled) > maxSettledKept {
		seconds := make([]int64, 0, len(k.Settled))
		for _, entry := range k.Settled {
			seconds = append(seconds, entry.Second)
		}
		slices.Sort(seconds)
		if full := seconds[len(seconds)-maxSettledKept-1] + 1; full > before {
			before, k.Edge = full, time.Unix(full, 0).UTC()
		}
	}
	maps.DeleteFunc(k.Settled, func(_ string, entry settledEntry) bool { return entry.Second < before })
}

// digestOf stands for an id. Of 5,000 ids, two have the same one in one of 10^14 cases.
func digestOf(id TransactionID) string {
	digest := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(digest[:9])
}

// String says where the position is, without the entries.
func (p LedgerPosition) String() string {
	known := p.state()
	if known.Edge.IsZero() && len(known.Pending) == 0 && len(known.Settled) == 0 {
		return "beginning of the ledger"
	}
	return fmt.Sprintf("ledger from %s, with %d pending and %d settled entries known",
		known.Edge.UTC().Format(time.RFC3339), len(known.Pending), len(known.Settled))
}

// storedPosition is a position as it is stored.
type storedPosition struct {
	Version int                                    `json:"version"`
	Account string                                 `json:"account,omitempty"`
	Edge    time.Time                              `json:"edge"`
	Pending []storedPending                        `json:"pending,omitempty"`
	Settled map[TransactionStatus]map[string]int64 `json:"settled,omitempty"`
}

type storedPending struct {
	ID      TransactionID     `json:"id"`
	Created time.Time         `json:"created"`
	Status  TransactionStatus `json:"status"`
}

// positionVersion is the form in which positions are stored.
const positionVersion = 1

// MarshalJSON writes the position to be stored. The form is this package's own, and can change with a version: it then
// still reads what earlier ones wrote.
func (p LedgerPosition) MarshalJSON() ([]byte, error) {
	known := p.state()
	stored := storedPosition{Version: positionVersion, Account: known.Account, Edge: known.Edge.UTC()}
	for id, entry := range known.Pending {
		stored.Pending = append(stored.Pending, storedPending{id, entry.Created.UTC(), entry.Status})
	}
	slices.SortFunc(stored.Pending, func(a, b storedPending) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	for digest, entry := range known.Settled {
		if stored.Settled == nil {
			stored.Settled = map[TransactionStatus]map[string]int64{}
		}
		if stored.Settled[entry.Status] == nil {
			stored.Settled[entry.Status] = map[string]int64{}
		}
		stored.Settled[entry.Status][digest] = entry.Second
	}
	return jsonv2.Marshal(stored, jsonv2.Deterministic())
}

// UnmarshalJSON reads what MarshalJSON wrote. Anything else is an error, and leaves the position as it was: a position
// that is half read would deliver changes twice or never.
func (p *LedgerPosition) UnmarshalJSON(text []byte) error {
	var stored storedPosition
	if err := jsonv2.Unmarshal(text, &stored, jsonv2.NoUnknownMembers()); err != nil {
		return fmt.Errorf("dapi: not a stored ledger position: %w", err)
	}
	if stored.Version != positionVersion {
		return fmt.Errorf("dapi: ledger position of version %d, and this package reads version %d: "+
			"read it with the version of the package that wrote it", stored.Version, positionVersion)
	}
	known := &ledgerState{
		Account: stored.Account, Edge: stored.Edge,
		Pending: map[TransactionID]pendingEntry{}, Settled: map[string]settledEntry{},
	}
	for _, entry := range stored.Pending {
		known.Pending[entry.ID] = pendingEntry{entry.Created, entry.Status}
	}
	for status, entries := range stored.Settled {
		for digest, second := range entries {
			known.Settled[digest] = settledEntry{second, status}
		}
	}
	*p = LedgerPosition{base: known}
	return nil
}
