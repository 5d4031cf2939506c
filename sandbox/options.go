package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Option changes how [New] sets a host up.
type Option func(*setup)

// setup is what the options change.
type setup struct {
	email     string // "" for the one in the store, or the default
	key       *signing.DeveloperKey
	settings  Settings
	changes   []func(*Settings) // that made settings of the defaults
	now       func() time.Time
	control   func(*Host, gate.HostNames, http.Handler) http.Handler // nil unless asked for
	names     gate.HostNames
	violation func(operation string, err error)
	logger    *slog.Logger
	store     store.Store
	logged    int // requests
	observe   func(gate.Entry)
	apiKey    string // "" for a new one
	audit     bool
	invalid   []error
}

func defaults() setup {
	return setup{settings: DefaultSettings(), logger: slog.New(slog.DiscardHandler),
		store: store.Memory{}, logged: gate.DefaultLogLength}
}

// refuse records an invalid option. [New] panics with all of them.
func (s *setup) refuse(option string, err error) {
	s.invalid = append(s.invalid, fmt.Errorf("%s: %w", option, err))
}

// WithEmail sets the email of the host's first account, an integrator's. The default is ops@example.com, or the email
// in the store of [WithStore].
func WithEmail(email string) Option {
	return func(s *setup) {
		if s.email = email; strings.TrimSpace(email) == "" {
			s.refuse("WithEmail", errors.New("the email is empty; leave the option out to use ops@example.com"))
		}
	}
}

// WithDeveloperKey sets the developer key of the host's first account, for example to use the same key for each start
// of a host. If key is nil, the host makes a new key, or uses the one in the store of [WithStore]. That is the default.
func WithDeveloperKey(key *signing.DeveloperKey) Option {
	return func(s *setup) {
		if s.key = key; key != nil && key.PublicKey() == nil {
			s.refuse("WithDeveloperKey",
				errors.New("the key is empty; make one with signing.Generate or signing.LoadDeveloperKey"))
		}
	}
}

// WithAPIKey sets the app key of the host's first account, for example to use the same key for each start of a host. It
// stays after [Host.Reset]. Without this option the host makes a new key, or uses the one in the store of [WithStore].
// A key has 16 to 128 characters, which are letters, digits, and - . _ ~ + / or =.
func WithAPIKey(key string) Option {
	return func(s *setup) {
		if s.apiKey = key; !session.IsSecret(key) {
			s.refuse("WithAPIKey", errors.New("the key is not 16 to 128 letters, digits, and - . _ ~ + / or ="))
		}
	}
}

// WithSettings changes the settings that the host starts with, and that [Host.Reset] goes back to. It calls change with
// the current settings, which are [DefaultSettings] at first. [deployment.Settings.Check] says which settings are
// valid. With [WithStore], it calls change once more, so that it wins over the settings in the store.
func WithSettings(change func(*Settings)) Option {
	return func(s *setup) {
		changed := s.settings.Clone()
		change(&changed)
		if err := changed.Check(); err != nil {
			s.refuse("WithSettings", err)
			return
		}
		s.settings, s.changes = changed, append(s.changes, change)
	}
}

// WithInstantProgress makes everything progress at once: clients are ready, rails and cards are active and
// verifications are decided when they are next read, and a confirmed payout is completed. Waits of the SDK such as
// Payouts.Wait then return at their first read. Without this option each step takes 250 to 300 milliseconds, and a wait
// that reads too early pauses for up to half a second before the next read.
//
// To see a resource while it is pending, set how long it stays pending with [WithSettings] or [Host.Configure], and end
// that with [Host.Advance]. A wait that is under way sees the change at its next read. The client option
// moneymovement.WithPolling makes the pauses between reads short.
func WithInstantProgress() Option {
	return WithSettings(func(s *Settings) { s.SetProgress(0) })
}

// WithRateLimits makes the host count requests against the service's rate windows, and refuse requests over a limit
// with rate_limited. Without this option the host counts nothing, so that a busy test does not have to wait.
func WithRateLimits() Option {
	return WithSettings(func(s *Settings) { s.RateLimits = true })
}

// WithClock sets the clock that the host's time starts from. If now is nil, it is the machine's clock, which is the
// default. If now always returns the same time, the host's time moves only by [Host.Advance].
func WithClock(now func() time.Time) Option {
	return func(s *setup) { s.now = now }
}

// WithHosts adds host names under which callers may reach the host, such as the name of a container, with a port or
// without. Without this option, a request that arrives on a loopback address must have localhost or a loopback address
// in its Host header, and a request with any other name is refused with forbidden. This protects the host from web
// pages whose domain name was made to point to this machine. With this option, the check applies to requests on every
// address. The controls are also checked for the port: if a tunnel or a proxy has another one, add localhost here.
func WithHosts(names ...string) Option {
	return func(s *setup) {
		for _, name := range names {
			if strings.Trim(name, ".") == "" || len(gate.HostNames(nil).Add(name)) == 0 ||
				strings.ContainsAny(name, "/ ") {
				s.refuse("WithHosts", fmt.Errorf(`%q is not a host name; give a name such as "sandbox.internal"`, name))
			}
		}
		s.names = s.names.Add(names...)
	}
}

// WithRequestLog sets how many of the latest requests [Host.Requests] returns. The default is 4,096. With 0 the host
// keeps no log of requests.
func WithRequestLog(length int) Option {
	return func(s *setup) {
		if s.logged = length; length < 0 {
			s.refuse("WithRequestLog", fmt.Errorf("the length is %d; give 0 or more", length))
		}
	}
}

// WithAudit makes the host count what it did for each payment, see [Host.Audit]. A payment needs less than a kilobyte,
// also after the host has forgotten its payout.
func WithAudit() Option {
	return func(s *setup) { s.audit = true }
}

// WithResponseValidation checks every response of the host against the OpenAPI description, and calls violation for
// those that differ, with the operationId. Responses of scripted faults are not checked. violation must be safe for
// concurrent use. This option is for tests of the host itself.
func WithResponseValidation(violation func(operation string, err error)) Option {
	return func(s *setup) { s.violation = violation }
}

// WithLogger sets the logger for failures of the host itself, such as a panic in an operation. If logger is nil, the
// host logs nothing, which is the default. See [Host.Requests] for the requests that the host received.
func WithLogger(logger *slog.Logger) Option {
	return func(s *setup) {
		if s.logger = logger; logger == nil {
			s.logger = slog.New(slog.DiscardHandler)
		}
	}
}
