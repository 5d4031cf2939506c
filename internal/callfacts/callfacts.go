// Package callfacts holds what the request path knows about a call and the errors need to know. What an error says
// about money follows from it. The package is internal, so only this module can set it.
package callfacts

// Facts are what is known about a call. The zero value describes a payment: a write that can move money, and whose
// idempotency key prevents a second payment.
type Facts struct {
	ReadOnly  bool    // it changes nothing
	Once      bool    // sending it again may do it twice: it has no idempotency key and no natural key
	Moneyless bool    // it moves no money, even if it succeeds
	Earlier   Earlier // of a payment whose last call paid nothing
	Misplaced string  // what the credential looks like, if it looks like that of another surface
}

// Earlier is what is known of the other calls for a payment.
type Earlier int

// The values of Earlier.
const (
	NonePaid Earlier = iota // none has paid or can still pay, as far as is known
	MayExist                // nothing shows that there is none that may have paid
	MayPay                  // one of them may have paid, or still can
)

// The functions of package errors that only the SDK calls. Package errors sets them: it is above this package, so that
// its own exported functions stay those that programs need.
var (
	// SetFacts sets the facts of a call, which is an *errors.CallInfo or an error that embeds one.
	SetFacts func(of any, facts Facts)
	// WithoutEffect reports that the service did not carry out the request of err, also if the request moves no money.
	WithoutEffect func(err error) bool
	// SetResource sets the resource and the idempotency key in the CallInfo of err, for a flow of several calls.
	SetResource func(err error, resource, key string)
	// Clone returns a copy of err that SetResource can change. All calls that waited for the same login share its
	// error, so each of them needs its own copy.
	Clone func(err error) error
)

// With returns an errors.CallInfo with the facts.
func With[CallInfo any](call CallInfo, facts Facts) CallInfo {
	SetFacts(&call, facts)
	return call
}
