package transport

import "context"

// Shown is the response to a write of which the description does not say what it returns ([Operation.Silent]). Any
// success means that the write was carried out.
type Shown[T any] struct {
	value *T // nil for nothing
	err   error
	auth  Authorizer // of the write
}

// Carry does what [Do] does for such a write.
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

// SameCredential is an option of a read. The read uses the credential of the write that it belongs to.
type SameCredential = func(*Call)

// Or returns the resource from the response, or else what read returns. read uses the credential of the write, since a
// newer one can be of another account. The write was carried out: if the read fails, Or returns the zero value and no
// error.
func (s Shown[T]) Or(read func(SameCredential) (*T, error)) (*T, error) {
	if s.value != nil || s.err != nil {
		return s.value, s.err
	}
	if value, err := read(func(c *Call) { c.Auth = s.auth }); err == nil {
		return value, nil
	}
	return new(T), nil
}

// OrZero returns the resource from the response, or else the zero value.
func (s Shown[T]) OrZero() (*T, error) {
	return s.Or(func(SameCredential) (*T, error) { return new(T), nil })
}

// Value returns the resource from the response, or nil.
func (s Shown[T]) Value() (*T, error) { return s.value, s.err }
