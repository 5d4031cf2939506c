package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Term is a member of a request that an idempotency key is bound to. A key is not bound to the other members: a
// signature is new each time.
type Term struct {
	Name   string // in wire spelling
	Format TermFormat
	Choice bool // a request has exactly one of several such members, so a request without it asks for something else
}

// MaxTerms is the largest number of terms of a request.
const MaxTerms = 8

// TermFormat appends one spelling of a value, so that equal values have equal texts.
type TermFormat func(dst, value []byte) []byte

// TermText is free text. Its spelling counts letter by letter.
func TermText(dst, value []byte) []byte { return append(dst, value...) }

// TermCaseless is a value in which upper and lower case are the same, such as an address or a UUID.
func TermCaseless(dst, value []byte) []byte { return append(dst, bytes.ToLower(value)...) }

// TermID is an id with an optional prefix.
func TermID(prefix string) TermFormat {
	return func(dst, value []byte) []byte { return append(dst, bytes.TrimPrefix(value, []byte(prefix))...) }
}

// TermDecimal is an amount: 12.5 equals 12.50.
func TermDecimal(dst, value []byte) []byte {
	if _, plain := parsePlain(value); plain {
		return appendPlain(dst, value)
	}
	amount, err := decimal.NewFromString(string(value))
	if err != nil || amount.Exponent() > maxExponent || amount.Exponent() < -maxExponent {
		return append(dst, value...)
	}
	return append(dst, amount.String()...)
}

// appendPlain appends digits with at most one point as package decimal writes them.
func appendPlain(dst, value []byte) []byte {
	if bytes.IndexByte(value, '.') >= 0 {
		value = bytes.TrimRight(bytes.TrimRight(value, "0"), ".")
	}
	value = bytes.TrimLeft(value, "0")
	if len(value) == 0 || value[0] == '.' {
		dst = append(dst, '0')
	}
	return append(dst, value...)
}

// maxExponent bounds the length of a decimal that is written out.
const maxExponent = 1000

// TermDuration is a number of s, m, h or d: 1h equals 60m.
func TermDuration(dst, value []byte) []byte {
	last := len(value) - 1 // a term is not empty
	count, err := strconv.Atoi(string(value[:last]))
	if unit := secondsOf(value[last]); err == nil && unit > 0 {
		return append(strconv.AppendInt(dst, int64(count*unit), 10), 's')
	}
	return append(dst, value...)
}

func secondsOf(unit byte) int {
	switch unit {
	case 's':
		return 1
	case 'm':
		return 60
	case 'h':
		return 3600
	case 'd':
		return 86400
	}
	return 0
}

// TermSet is a list of texts in any order.
func TermSet(dst, value []byte) []byte {
	var room [8]string
	items := room[:0]
	scan := codec.Over(value)
	entries := scan.Array()
	for scan.Entry(&entries) {
		if scan.Kind() != codec.KindString {
			return append(dst, value...)
		}
		items = append(items, scan.Text())
	}
	slices.Sort(items)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, 0)
		}
		dst = append(dst, item...)
	}
	return dst
}

// Digests are the digests of the terms of a request, and 0 for a term that the request does not have.
type Digests [MaxTerms]uint64

// DigestsOf returns the digests of the terms in a body. A body that is not a JSON object has no terms.
func DigestsOf(seed maphash.Seed, stated []Term, body []byte) (found Digests) {
	scan := codec.Over(body)
	var room [64]byte
	members := scan.Unchecked()
	for scan.Next(&members) {
		for i, term := range stated {
			if term.Name != string(members.Name) {
				continue
			}
			if text := plain(&scan); len(text) > 0 {
				found[i] = maphash.Bytes(seed, term.Format(room[:0], text))
			}
			break
		}
	}
	return found
}

// Differing returns the members that both requests have, with different values. It ignores a member that only one of
// them has: the service may assume the same value for the other.
func Differing(stated []Term, before, now Digests) (names []string) {
	for i, term := range stated {
		both := before[i] != 0 && now[i] != 0
		if before[i] != now[i] && (both || term.Choice) {
			names = append(names, term.Name)
		}
	}
	return names
}

// plain reads a string without its quotes, and any other value as it is. Null is empty.
func plain(scan *codec.Scanner) []byte {
	switch scan.Kind() {
	case codec.KindString:
		return scan.Bytes()
	case codec.KindNull:
		return nil
	}
	return scan.Raw()
}
