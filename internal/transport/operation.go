package transport

import (
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Operation is what the description says about one operation. The generator writes one variable for each.
type Operation struct {
	ID     string // OpenAPI operationId, such as "BookPayout"
	Method string
	Path   string // template below the surface's base path, such as "/payouts/{payoutId}"
	Repeat Repeat
	Money  Money
	Window moneymovement.Window
	Public bool // carries no credential

	Tells   bool // the request body holds secrets
	Reveals bool // a successful response holds secrets

	Answer *wire.Answer // of a success in JSON; nil if nothing is known about it
	Silent bool         // the description does not say what a success returns; the shape is assumed

	Derives bool        // without a key the service derives one from the request
	Terms   []wire.Term // the members that an idempotency key is bound to, and how they are compared
	Owner   string      // the kind of id that a used key belongs to: payoutId or escrowId; "" if it is not stated

	KeyInPath bool // the idempotency key is part of the path of the call that confirms
}

// Repeat says whether an operation can happen twice if a call is repeated after a lost response.
type Repeat string

const (
	RepeatKey     Repeat = "key"     // the write has an idempotency key
	RepeatNatural Repeat = "natural" // the write has a natural key or sets a state
	RepeatNever   Repeat = "none"    // it may happen twice
)

// Money says whether an operation can move money. If the description does not say, it can.
type Money string

const (
	// MoneyNone marks a write that never moves money, such as the creation of a contact, a verification or a login. An
	// operation with an idempotency key is never marked so. A booking itself moves nothing, but its key may belong to a
	// payment that an earlier call has confirmed.
	MoneyNone Money = "none"
	// MoneyAtOnce marks a write with an idempotency key that moves money itself: no second call confirms it.
	MoneyAtOnce Money = "at-once"
)

// write reports whether the operation can change anything.
func (o *Operation) write() bool { return o.Method != http.MethodGet }
