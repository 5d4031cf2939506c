package dapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// LedgerPosition records which changes of a ledger were delivered: see [Transactions.Changes]. You can copy it, and
// store it as JSON. The zero value is the beginning of the ledger. [LedgerPositionAt] returns any other start.
//
// A position belongs to one account. It holds the id, time and status of each pending entry (about 20,000 at most), and
// a digest of each settled entry of the last [ChangesParams].LateBy (5,000 at most). Its JSON has less than 100 bytes,
// plus about 100 for each pending entry and about 30 for each of these settled entries. It holds no amounts and no
// secrets.
type LedgerPosition struct {
	base *ledgerState // nil for the beginning
	then []ledgerStep // what was delivered since
}

// LedgerPositionAt returns a position from which the entries that were created at t or later are delivered. Entries
// that were created before t are never delivered, even if they change later. To include entries that are pending at t,
// choose an earlier time.
func LedgerPositionAt(t time.Time) LedgerPosition {
	return LedgerPosition{base: &ledgerState{Edge: t}}
}

// The bounds of a position.
const (
	maxPendingKept = 20_000
	maxSettledKept = 5_000
)

// ledgerState is the content of a position. It does not change after that.
type ledgerState struct {
	Account string // that it belongs to; empty before it was used
	// Edge is the time from which new entries are looked for. An entry that was created earlier, and is not in Pending,
	// was delivered.
	Edge    time.Time
	Pending map[TransactionID]pendingEntry
	Settled map[string]settledEntry // by digest
}

type pendingEntry struct {
	Created time.Time
	Status  TransactionStatus
}

type settledEntry struct {
	Second int64 // the Unix time of its creation
	Status TransactionStatus
}

// ledgerStep is one change that was delivered.
type ledgerStep struct {
	id      TransactionID
	created time.Time
	status  TransactionStatus
	watched bool      // it is pending, and the next look reads it again
	edge    time.Time // the new Edge, if it is later than the old one
}

// state returns the content of the position in new maps.
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

// forget drops the settled entries before Edge. Their time shows that they were delivered. If there are still too many,
// it moves the edge.
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

// digestOf returns a short digest of an id. Among 5,000 ids, the chance of two equal digests is less than 1 in 10^14.
func digestOf(id TransactionID) string {
	digest := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(digest[:9])
}

// String returns a short text about the position, for logs.
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

// MarshalJSON returns the position for storage. The format is internal and can change in a later version, which can
// still read positions of earlier versions.
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
	return codec.Marshal(stored, codec.Deterministic())
}

// UnmarshalJSON reads what MarshalJSON returned. If it fails, the position is unchanged.
func (p *LedgerPosition) UnmarshalJSON(text []byte) error {
	var stored storedPosition
	if err := codec.Unmarshal(text, &stored, codec.NoUnknownMembers()); err != nil {
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
