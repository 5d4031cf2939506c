// Package fault holds scripted faults: what goes wrong, for which requests, how often, and how often it has happened.
package fault

import (
	"encoding"
	"fmt"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Kind is what goes wrong.
type Kind string

// The kinds of fault.
const (
	// DropBefore closes the connection before the operation runs.
	DropBefore Kind = "drop_before"
	// DropAfterCommit runs the operation and closes the connection without a response.
	DropAfterCommit Kind = "drop_after_commit"
	// Respond sends a refusal, or any other scripted response, in place of the operation's.
	Respond Kind = "respond"
	// Garbage sends an HTML page, as a proxy does.
	Garbage Kind = "garbage"
	// Truncate runs the operation and cuts the body of its response short.
	Truncate Kind = "truncate"
	// Delay waits, then lets the request through.
	Delay Kind = "delay"
	// ExpireToken expires the request's access token before it is checked.
	ExpireToken Kind = "expire_token"
	// Duplicate makes the request arrive a second time, and drops the second response.
	Duplicate Kind = "duplicate"
	// Repeat makes the request arrive a second time, and drops the first response.
	Repeat Kind = "repeat"
	// Foreign sends an earlier response of the same operation to another request.
	Foreign Kind = "foreign"
)

var kinds = []Kind{DropBefore, DropAfterCommit, Respond, Garbage, Truncate, Delay, ExpireToken, Duplicate, Repeat,
	Foreign}

// Fault is one thing that goes wrong.
type Fault struct {
	Kind Kind `json:"kind"`

	// The response of Respond and Garbage. Code and Message make an envelope. Body, if it is set, is sent instead.
	Status  int               `json:"status,omitzero"`
	Code    string            `json:"code,omitzero"`
	Message string            `json:"message,omitzero"`
	Details map[string]any    `json:"details,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    string            `json:"body,omitzero"`
	// AfterCommit runs the operation first. Respond, Garbage and Foreign do not send its response. Delay sends it late.
	AfterCommit bool `json:"afterCommit,omitzero"`

	// The duration of Delay, on the machine's clock.
	Delay Duration `json:"delay,omitzero"`
	// For Duplicate, when the request arrives again, on the host's clock. Zero means at once.
	After Duration `json:"after,omitzero"`
	// For Foreign, whether the response is one to another account, and not to the same account.
	OtherAccount bool `json:"otherAccount,omitzero"`
	// For Truncate, how many bytes of the body are sent. Zero means half of it.
	Keep int `json:"keep,omitzero"`
}

// Check refuses a fault that could never happen, and a fault with a member that its kind does not use.
func (f Fault) Check() error {
	switch f.Kind {
	case DropBefore, DropAfterCommit, Garbage, ExpireToken, Repeat, Foreign:
	case Duplicate:
		if f.After < 0 {
			return wire.InvalidField("fault.after", "greater_than_equal", "after must not be negative.")
		}
	case Respond:
		if f.Status < 200 || f.Status > 599 {
			return wire.InvalidField("fault.status", "out_of_range", "The status must be from 200 to 599.")
		}
	case Truncate:
		if f.Keep < 0 {
			return wire.InvalidField("fault.keep", "greater_than_equal", "keep must not be negative.")
		}
	case Delay:
		if f.Delay <= 0 {
			return wire.InvalidField("fault.delay", "greater_than", `A delay must be more than 0, such as "250ms".`)
		}
	default:
		return wire.InvalidField("fault.kind", "enum",
			fmt.Sprintf("A fault has one of these kinds: %s.", kinds))
	}
	for _, member := range []struct {
		name string
		set  bool
		of   []Kind
	}{
		{"status", f.Status != 0, []Kind{Respond, Garbage}},
		{"code", f.Code != "", []Kind{Respond}},
		{"message", f.Message != "", []Kind{Respond}},
		{"details", len(f.Details) > 0, []Kind{Respond}},
		{"headers", len(f.Headers) > 0, []Kind{Respond}},
		{"body", f.Body != "", []Kind{Respond}},
		{"afterCommit", f.AfterCommit, []Kind{Respond, Garbage, Foreign, Delay}},
		{"after", f.After != 0, []Kind{Duplicate}},
		{"otherAccount", f.OtherAccount, []Kind{Foreign}},
		{"delay", f.Delay != 0, []Kind{Delay}},
		{"keep", f.Keep != 0, []Kind{Truncate}},
	} {
		if member.set && !slices.Contains(member.of, f.Kind) {
			return wire.InvalidField("fault."+member.name, "extra_forbidden",
				fmt.Sprintf("A fault of kind %s does not use it.", f.Kind))
		}
	}
	return nil
}

// RunsOperation reports whether the operation runs although its response is lost or replaced.
func (f Fault) RunsOperation() bool {
	switch f.Kind {
	case DropBefore:
		return false
	case Respond, Garbage, Foreign:
		return f.AfterCommit
	default:
		return true
	}
}

// Duration is written as Go writes durations: "1m30s".
type Duration time.Duration

var (
	_ encoding.TextMarshaler   = Duration(0)
	_ encoding.TextUnmarshaler = (*Duration)(nil)
)

// MarshalText writes it as "1m30s".
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// UnmarshalText reads what [time.ParseDuration] reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
