package sandbox

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// state is what the host itself stores, beside the records of its parts. Each kind has one record at most.
type state struct {
	clock *clock.Clock

	mu       sync.Mutex
	keeper   *store.Keeper
	time     *store.Table[clockRecord]
	settings *store.Table[settingsRecord]
	login    *store.Table[loginRecord]
	reset    *store.Table[unfinishedReset]
}

// clockRecord says when the host was first started, and by how much its clock was advanced.
type clockRecord struct {
	Started  time.Time
	Advanced Duration
}

// settingsRecord are the values of the settings that were changed while the host ran, by their names.
type settingsRecord struct{ Changed map[string]jsontext.Value }

// loginRecord has the credentials of the first account, and their registrations.
type loginRecord struct {
	Key          session.Key
	DeveloperKey string // the private key as PEM, or "" if it is not in this process
	AppKey       session.AppKey
	AccessToken  string
	Wallet       string // PEM
}

// unfinishedReset is stored while a reset is under way. A host that finds it begins the reset again.
type unfinishedReset struct{}

// recordID is the id of the only record of a kind.
const recordID = "host"

// newState reads the state, and moves the clock on to where it was.
func newState(clk *clock.Clock, backend store.Store) *state {
	s := &state{clock: clk, keeper: store.NewKeeper(backend)}
	s.time = store.Open[clockRecord](s.keeper, "host.time")
	s.settings = store.Open[settingsRecord](s.keeper, "host.settings")
	s.login = store.Open[loginRecord](s.keeper, "host.login")
	s.reset = store.Open[unfinishedReset](s.keeper, "host.reset")
	if t := s.time.Get(recordID); t != nil {
		clk.Advance(time.Duration(t.Advanced))
		return s
	}
	s.time.Put(recordID, &clockRecord{Started: clk.Now()})
	s.keeper.Commit()
	return s
}

// started is when the host was first started.
func (s *state) started() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time.Get(recordID).Started
}

// advance moves the clock. It stores the move first, so that a time that was read is never lost.
func (s *state) advance(d time.Duration) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d > 0 {
		advanced := s.clock.Advanced()
		advanced += min(d, math.MaxInt64-advanced)
		s.time.Put(recordID, &clockRecord{s.time.Get(recordID).Started, Duration(advanced)})
		s.keeper.Commit()
	}
	return s.clock.Advance(d)
}

// changedSettings returns the values of the settings that were changed.
func (s *state) changedSettings() map[string]jsontext.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	if record := s.settings.Get(recordID); record != nil {
		return record.Changed
	}
	return nil
}

// changeSettings stores the new values of settings.
func (s *state) changeSettings(changed map[string]jsontext.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := &settingsRecord{map[string]jsontext.Value{}}
	if record := s.settings.Get(recordID); record != nil {
		for name, value := range record.Changed {
			all.Changed[name] = value
		}
	}
	for name, value := range changed {
		all.Changed[name] = value
	}
	s.settings.Put(recordID, all)
	s.keeper.Commit()
}

// loadLogin returns the stored credentials, or nil.
func (s *state) loadLogin() *loginRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.login.Get(recordID)
}

// saveLogin stores the credentials.
func (s *state) saveLogin(login *loginRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login.Put(recordID, login)
	s.keeper.Commit()
}

// beginReset forgets the settings and the advance of the clock, and notes that a reset is under way.
func (s *state) beginReset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset.Put(recordID, &unfinishedReset{})
	s.settings.Clear()
	s.time.Put(recordID, &clockRecord{Started: s.time.Get(recordID).Started})
	s.keeper.Commit()
	s.clock.Reset()
}

func (s *state) endReset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset.Clear()
	s.keeper.Commit()
}

// resetUnfinished reports whether the process ended during a reset.
func (s *state) resetUnfinished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reset.Get(recordID) != nil
}

// Store keeps the state of a host for its next start. Package sandbox/bolt has one that keeps it in a file. Its methods
// are for the host. No other module can implement it, since what a host stores changes from version to version.
type Store = store.Store

// WithStore makes the host keep its state in a store, and start with what the store has. One host at a time can use a
// store. Without this option the host keeps everything in memory, and forgets it at its end.
//
// The credentials stay the same, so that callers work unchanged. The clock goes on from where it was, with the time by
// which it was advanced. Settings that were changed with [Host.Configure] or over the controls stay changed. What an
// option sets wins: [WithEmail], [WithDeveloperKey], [WithAPIKey], [WithSettings] and the options that change settings.
// [Host.Reset] goes back to the start here as well.
//
// The host forgets on purpose what counts or shows requests: the rate windows, the log of [Host.Requests], the audit of
// [WithAudit], and requests that a fault would have repeated later.
func WithStore(backend Store) Option {
	return func(s *setup) {
		if s.store = backend; backend == nil {
			s.refuse("WithStore", errors.New("the store is nil; leave the option out to keep nothing"))
		}
	}
}

// recordCounters keep records, and count them one by one.
type recordCounters []interface{ Records() int }

func (k recordCounters) records() int {
	count := 0
	for _, counter := range k {
		count += counter.Records()
	}
	return count
}

// checkLimit refuses more records than [Settings.MaxRecords] allows.
func (k recordCounters) checkLimit(limit int) error {
	if k.records() >= limit {
		return wire.Full(limit)
	}
	return nil
}
