package transport

import "github.com/moneymovement/moneymovement-go/internal/wire"

// Encoded is a body that is JSON already, such as a document that was encoded while it was read.
type Encoded []byte

// encode encodes the body once for all attempts.
func (r *Request) encode() (err error) {
	if !r.hasBody {
		return nil
	}
	if encoded, done := r.body.(Encoded); done {
		r.encoded = encoded
		return nil
	}
	if r.encoder != nil {
		var ok bool
		if r.encoded, ok = wire.Write(r.encoder); ok {
			return nil
		}
	}
	if r.op.Tells {
		r.encoded, err = wire.MarshalRevealing(r.body)
	} else {
		r.encoded, err = wire.Marshal(r.body)
	}
	return err
}
