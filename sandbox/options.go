package sandbox

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/hostname"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Option changes how [New] sets a host up.
type Option func(*setup)

// setup is what the options change.
type setup struct {
	email     string
	key       *signing.DeveloperKey
	settings  Settings
	now       func() time.Time
	control   func(*Host, hostname.Names, http.Handler) http.Handler // nil unless asked for
	names     hostname.Names
	violation func(operation string, err error)
	logger    *slog.Logger
	store     store.Store
}

func defaults() setup {
	return setup{email: "ops@example.com", settings: DefaultSettings(), logger: slog.New(slog.DiscardHandler),
		store: store.Memory{}}
}

// WithEmail names the integrator's account; ops@example.com otherwise.
func WithEmail(email string) Option {
	return func(s *setup) {
		if email != "" {
			s.email = email
		}
	}
}

// WithDeveloperKey makes the host's credentials hold this key instead of a new
// one, so that they stay the same from host to host.
func WithDeveloperKey(key *signing.DeveloperKey) Option {
	return func(s *setup) {
		if key != nil && key.PublicKey() != nil {
			s.key = key
		}
	}
}

// WithSettings changes the settings of the first state. A change that
// [deployment.Settings.Check] refuses is not made.
func WithSettings(change func(*Settings)) Option {
	return func(s *setup) {
		changed := s.settings.Clone()
		change(&changed)
		if changed.Check() == nil {
			s.settings = changed
		}
	}
}

// WithRateLimits counts requests against the stated rate windows. Source:
// Limits, Rate windows.
func WithRateLimits() Option {
	return WithSettings(func(s *Settings) { s.RateLimits = true })
}

// WithClock makes the host's clock run as now does, instead of as the machine's.
// A function that always answers the same time makes a clock that moves only
// when advanced.
func WithClock(now func() time.Time) Option {
	return func(s *setup) { s.now = now }
}

// WithHosts names hosts that requests may ask for, such as the name of a
// container. A request that arrives on a loopback address is refused with
// forbidden unless its Host header has one of these names, localhost or a
// loopback address, so that no page of a browser reaches the host by a name that
// was made to lead here. Once hosts are named, that is so on every address.
func WithHosts(names ...string) Option {
	return func(s *setup) { s.names = s.names.Add(names...) }
}

// WithAnswerValidation checks every answer against the OpenAPI description and
// reports those that are not as described. Answers that a fault scripted are not
// checked. The function may be called from several goroutines at once.
func WithAnswerValidation(violation func(operation string, err error)) Option {
	return func(s *setup) { s.violation = violation }
}

// WithLogger is told of faults of the host itself; they are dropped otherwise.
func WithLogger(logger *slog.Logger) Option {
	return func(s *setup) {
		if logger != nil {
			s.logger = logger
		}
	}
}
