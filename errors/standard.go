package errors

import "errors"

// The standard package's API, so that a file needs only this package.

// ErrUnsupported is the standard errors.ErrUnsupported. The SDK itself does not return it.
var ErrUnsupported = errors.ErrUnsupported

// Is reports whether any error in err's tree matches target. It is the standard errors.Is.
func Is(err, target error) bool { return errors.Is(err, target) }

// As finds the first error in err's tree that matches target, and sets target to it. It is the standard errors.As.
func As(err error, target any) bool { return errors.As(err, target) }

// AsType finds the first error of type E in err's tree. It is the standard errors.AsType.
func AsType[E error](err error) (E, bool) { return errors.AsType[E](err) }

// Join returns an error that wraps errs without the nil ones, or nil if all are nil. It is the standard errors.Join.
func Join(errs ...error) error { return errors.Join(errs...) }

// New returns an error with the given text. It is the standard errors.New.
func New(text string) error { return errors.New(text) }

// Unwrap returns the error that err wraps, or nil if it wraps none. It is the standard errors.Unwrap.
func Unwrap(err error) error { return errors.Unwrap(err) }
