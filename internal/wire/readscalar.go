package wire

import (
	"encoding/base64"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// scalar reads a value without parts. It returns false for a value that is not in its usual form.
func (r *Reader) scalar(s *Shape, into any) bool {
	switch to := into.(type) {
	case *string:
		return s.Kind == KindText && r.text(s, to)
	case *decimal.Decimal:
		return r.amount(to)
	case *time.Time:
		return r.time(to)
	case *int:
		n, ok := r.integer()
		*to = int(n)
		return ok && int64(*to) == n
	case *int64:
		n, ok := r.integer()
		*to = n
		return ok
	case *bool:
		kind := r.scan.Kind()
		r.scan.Skip()
		*to = kind == codec.KindTrue
		return *to || kind == codec.KindFalse
	case *[]byte:
		return s.Kind == KindBytes && r.bytes(to)
	case pointer:
		return r.scalar(s, to.fill())
	}
	return r.itself(into)
}

// text reads a string. A word that the shape knows needs no memory.
func (r *Reader) text(s *Shape, to *string) bool {
	text, ok := r.scan.TryBytes()
	if !ok {
		return false
	}
	if s.ID != nil {
		*to = string(text)
		return s.ID.problem(*to) == ""
	}
	for _, word := range s.Words {
		if string(text) == word {
			*to = word
			return true
		}
	}
	*to = string(text)
	return true
}

func (r *Reader) amount(to *decimal.Decimal) bool {
	kind := r.scan.Kind()
	digits, ok := r.scan.TryBytes()
	if !ok {
		if kind != codec.KindNumber {
			return false
		}
		digits = r.scan.Raw()
	}
	amount, err := readAmount(digits, kind)
	*to = amount
	return err == nil
}

func (r *Reader) time(to *time.Time) bool {
	text, ok := r.scan.TryBytes()
	return ok && readTime(text, to)
}

// integer reads digits. It leaves every other form of a whole number to the bender.
func (r *Reader) integer() (n int64, ok bool) {
	const most = 18 // any number with so many digits fits an int64
	if r.scan.Kind() != codec.KindNumber {
		return 0, false
	}
	digits := r.scan.Raw()
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, 0 < len(digits) && len(digits) <= most
}

// bytes reads standard base64. It leaves other forms to the bender.
func (r *Reader) bytes(to *[]byte) bool {
	text, ok := r.scan.TryBytes()
	if !ok {
		return false
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(decoded, text)
	*to = decoded[:n]
	return err == nil && base64.StdEncoding.EncodedLen(n) == len(text) // package base64 skips line ends
}
