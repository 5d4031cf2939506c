// Package callfacts holds what the request path knows of a call and the errors of the SDK have to know as well. It is
// internal, so that only this module can say it: what an error says about money follows from it.
package callfacts

// Facts are what is known of a call. The zero value is what a payment is: a write that can move money, and that its
// idempotency key keeps from being done twice.
type Facts struct {
	ReadOnly  bool // it changes nothing
	Once      bool // sending it again may do it twice: neither an idempotency key nor a natural key anchors it
	Moneyless bool // it moves no money, whether it succeeds or not
}

// Asker marks the questions of the request path, which other packages cannot ask.
type Asker struct{}
