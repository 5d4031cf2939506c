package transport

import (
	"github.com/moneymovement/moneymovement-go/errors"
)

// InvalidOptions are the problems that options have found in their arguments. An option cannot return an error, so the
// call that it is given to refuses them.
type InvalidOptions []errors.Field

// Refuse adds a problem with an option.
func (o *InvalidOptions) Refuse(option, code, message string) {
	*o = append(*o, errors.Field{Field: option, Code: code, Message: message})
}

// NotNil refuses an option without its function or pointer.
func (o *InvalidOptions) NotNil(option string, given bool) {
	if !given {
		o.Refuse(option, errors.FieldMissing, "must not be nil")
	}
}

// Options refuses a call because of its options.
func (c *Check) Options(invalid []errors.Field) {
	for _, problem := range invalid {
		c.Refuse(problem.Field, problem.Code, problem.Message)
	}
}
