package transport

import "github.com/moneymovement/moneymovement-go/internal/wire"

// Encoded is a body that is JSON already, such as a document that was encoded while it was read.
type Encoded []byte

// encode encodes the body once for all attempts.
func (r *Request) encode() ([]byte, error) {
	if !r.hasBody {
		return nil, nil
	}
	if encoded, done := r.body.(Encoded); done {
		return encoded, nil
	}
	if r.encoder != nil {
		if encoded, ok := wire.Write(r.encoder); ok {
			return encoded, nil
		}
	}
	if r.op.Tells {
		return wire.MarshalRevealing(r.body)
	}
	return wire.Marshal(r.body)
}
