package transport

import "context"

// Shown is what the answer to a write showed, of which the description does not say what it returns
// ([Operation.Silent]): any success says that the write was carried out, whatever it holds.
type Shown[T any] struct {
	value *T // nil for nothing
	err   error
	auth  Authorizer // of the write
}

// Carry walks the path of [Do] for such a write.
func Carry[T any](ctx context.Context, c *Client, r *Request) Shown[T] {
	value := new(T)
	if err := c.do(ctx, r, value); err != nil {
		return Shown[T]{err: err}
	}
	if !r.tracker.shown {
		return Shown[T]{auth: r.tracker.auth}
	}
	return Shown[T]{value: value}
}

// SameCredential is an option of a read, which carries the credential of the write that it belongs to.
type SameCredential = func(*Call)

// Or returns what was shown, else what read says, with the credential of the write: a newer one can be of another
// account. The write was carried out, so that a read that fails leaves the zero value and no error.
func (s Shown[T]) Or(read func(SameCredential) (*T, error)) (*T, error) {
	if s.value != nil || s.err != nil {
		return s.value, s.err
	}
	if value, err := read(func(c *Call) { c.Auth = s.auth }); err == nil {
		return value, nil
	}
	return new(T), nil
}

// OrZero returns what was shown, else the zero value.
func (s Shown[T]) OrZero() (*T, error) {
	return s.Or(func(SameCredential) (*T, error) { return new(T), nil })
}

// Value returns what was shown, nil for nothing.
func (s Shown[T]) Value() (*T, error) { return s.value, s.err }
