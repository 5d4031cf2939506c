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

// Asker is an argument that only the request path can make.
type Asker struct{}
