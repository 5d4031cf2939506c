package transport

import (
	"context"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Shown is the response to a write whose result the description does not state ([Operation.Silent]). Any success means
// that the write was carried out.
type Shown[T any] struct {
	value *T // nil if the response did not show it
	err   error
	auth  Authorizer // the credential of the write
	// unproven is the error if only the resource proves the write
	unproven error
}

var errNotShown = errors.New("the response reports success, and does not show the resource")

// Carry is [Do] for such a write.
func Carry[T any](ctx context.Context, c *Client, r *Request) Shown[T] {
	value, err := Do[T](ctx, c, r)
	if err != nil {
		return Shown[T]{err: err}
	}
	if !r.shown {
		return Shown[T]{auth: r.auth, unproven: r.unreadable(errNotShown)}
	}
	return Shown[T]{value: value}
}

// Or returns the resource from the response, or else the result of read. read uses the credential of the write: a newer
// credential can belong to another account. The write was carried out, so if the read fails, Or returns the zero value
// and no error.
func (s Shown[T]) Or(read func(Authorizer) (*T, error)) (*T, error) {
	if s.value != nil || s.err != nil {
		return s.value, s.err
	}
	if value, err := read(s.auth); err == nil {
		return value, nil
	}
	return new(T), nil
}

// Proven is Or for a write of money: a success that shows nothing does not prove it. If there is no read, or it fails,
// the outcome is unknown.
func (s Shown[T]) Proven(read func(Authorizer) (*T, error)) (*T, error) {
	if s.value != nil || s.err != nil {
		return s.value, s.err
	}
	if read != nil {
		if value, err := read(s.auth); err == nil {
			return value, nil
		}
	}
	return nil, s.unproven
}

// OrZero returns the resource from the response, or else the zero value.
func (s Shown[T]) OrZero() (*T, error) {
	return s.Or(func(Authorizer) (*T, error) { return new(T), nil })
}

// Value returns the resource from the response, or nil.
func (s Shown[T]) Value() (*T, error) { return s.value, s.err }
