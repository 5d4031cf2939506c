package recorded

import (
	"bytes"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Replace returns a replacement for a JSON value, and whether to use it. name is the name of the value's member, or of
// the member that holds the value's array.
type Replace func(name string, value codec.Value) (replacement codec.Value, replaced bool)

// Rewrite returns a JSON value with some values replaced. It looks into each object and array that is not replaced.
func Rewrite(value codec.Value, by Replace) (codec.Value, error) { return rewrite("", value, by) }

func rewrite(name string, value codec.Value, by Replace) (codec.Value, error) {
	if replacement, replaced := by(name, value); replaced {
		return replacement, nil
	}
	if kind := value.Kind(); kind != '{' && kind != '[' {
		return value, nil
	}
	var out bytes.Buffer
	dec, enc := codec.NewDecoder(bytes.NewReader(value)), codec.NewEncoder(&out)
	for {
		if within(dec) {
			inner, err := dec.ReadValue()
			if err == nil {
				inner, err = rewrite(name, bytes.Clone(inner), by)
			}
			if err == nil {
				err = enc.WriteValue(inner)
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		token, err := dec.ReadToken()
		if err == nil {
			if token.Kind() == '"' {
				name = token.String()
			}
			err = enc.WriteToken(token)
		}
		if err != nil {
			return nil, err
		}
		if dec.StackDepth() == 0 {
			return bytes.TrimSpace(out.Bytes()), nil
		}
	}
}

// within reports whether an element of an array or the value of a member comes next.
func within(dec *codec.Decoder) bool {
	if dec.StackDepth() == 0 {
		return false
	}
	if next := dec.PeekKind(); next == '}' || next == ']' {
		return false
	}
	kind, length := dec.StackIndex(1)
	return kind == '[' || length%2 == 1
}
