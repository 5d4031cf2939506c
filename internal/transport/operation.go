package transport

import (
	"net/http"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Operation is what the description says about one operation. The generator writes one variable for each.
type Operation struct {
	ID     string // OpenAPI operationId, such as "BookPayout"
	Method string
	Path   string // template below the surface's base path, such as "/payouts/{payoutId}"
	Repeat Repeat
	Money  Money
	Window Window
	Public bool // carries no credential

	Tells   bool // the request holds secrets
	Reveals bool // a success holds secrets

	Answer *wire.Answer // of a success in JSON, nil if nothing is known of it
	Silent bool         // the description does not say what a success holds; the shape is assumed

	Derives bool        // without a key the service derives one from the request
	Terms   []wire.Term // how what an idempotency key anchors is compared
	Owner   string      // what a key that was used before belongs to: payoutId or escrowId, "" where it is not stated
}

// Repeat says whether an operation can happen twice if it is sent again after a lost response.
type Repeat string

const (
	RepeatKey     Repeat = "key"     // the idempotency key anchors the write
	RepeatNatural Repeat = "natural" // the write has a natural key or sets a state
	RepeatNever   Repeat = "none"    // it may happen twice
)

// Money says whether an operation can move money. If the description does not say, it can.
type Money string

// MoneyNone marks a write that never moves money, such as the creation of a contact, a verification or a login. An
// operation that an idempotency key anchors is never marked. A booking itself moves nothing, but its key may anchor a
// payment that an earlier call has confirmed.
const MoneyNone Money = "none"

// Window names a stated rate window.
type Window string

const (
	WindowReads        Window = "reads"
	WindowWrites       Window = "writes"
	WindowLogin        Window = "login"         // of the client's address
	WindowSandboxMoney Window = "sandbox_money" // of an account

	WindowLoginEmail     Window = "login_email"     // of the email that a challenge is asked for
	WindowLoginChallenge Window = "login_challenge" // of a challengeId
)

// write reports whether the operation can change anything.
func (o *Operation) write() bool { return o.Method != http.MethodGet }
