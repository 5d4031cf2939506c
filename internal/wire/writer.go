package wire

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"sync"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Writer writes a JSON object, member by member, as [Marshal] writes it. The generator writes the bodies that are sent
// often with it. They then need no reflection.
type Writer struct {
	out []byte
	bad bool // a text is not valid UTF-8
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// Write returns the JSON object whose members are written by a function. It returns false for a value that cannot be
// written: [Marshal] says why.
func Write(members func(*Writer)) ([]byte, bool) {
	w := writers.Get().(*Writer)
	w.out, w.bad = append(w.out[:0], '{'), false
	members(w)
	w.out = append(w.out, '}')
	if cap(w.out) <= mostKept {
		defer writers.Put(w)
	}
	if w.bad {
		return nil, false
	}
	return bytes.Clone(w.out), true
}

// mostKept bounds the memory of a Writer that is used again.
const mostKept = 64 << 10

// Text writes a text.
func (w *Writer) Text(name, value string) {
	w.name(name)
	w.quote(value)
}

// Texts writes a list of texts.
func Texts[T ~string](w *Writer, name string, values []T) {
	w.name(name)
	w.out = append(w.out, '[')
	for i, value := range values {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.quote(string(value))
	}
	w.out = append(w.out, ']')
}

// Amount writes an amount.
func (w *Writer) Amount(name string, value decimal.Decimal) {
	w.name(name)
	w.quote(value.String())
}

// Integer writes a whole number.
func (w *Writer) Integer(name string, value int64) {
	w.name(name)
	w.out = strconv.AppendInt(w.out, value, 10)
}

// Boolean writes true or false.
func (w *Writer) Boolean(name string, value bool) {
	w.name(name)
	w.out = strconv.AppendBool(w.out, value)
}

// Bytes writes bytes in base64.
func (w *Writer) Bytes(name string, value []byte) {
	w.name(name)
	w.out = append(w.out, '"')
	w.out = base64.StdEncoding.AppendEncode(w.out, value)
	w.out = append(w.out, '"')
}

// name writes the name of a member, which needs no escapes.
func (w *Writer) name(name string) {
	if len(w.out) > len(`{`) {
		w.out = append(w.out, ',')
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, name...)
	w.out = append(w.out, `":`...)
}

func (w *Writer) quote(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			out, err := codec.AppendQuote(w.out, text)
			w.out, w.bad = out, w.bad || err != nil
			return
		}
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, text...)
	w.out = append(w.out, '"')
}
