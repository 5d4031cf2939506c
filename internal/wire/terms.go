package wire

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/jsonscan"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Term is a member of a request that an idempotency key is bound to. A key is not bound to the other members: a
// signature is new each time.
type Term struct {
	Name   string // in wire spelling
	Format TermFormat
	Choice bool // a request has exactly one of several such members, so a request without it asks for something else
}

// TermFormat returns one spelling of a value, so that equal values have equal texts.
type TermFormat func(value string) string

// TermText is free text. Its spelling counts letter by letter.
func TermText(value string) string { return value }

// TermCaseless is a value in which upper and lower case are the same, such as an address or a UUID.
func TermCaseless(value string) string { return strings.ToLower(value) }

// TermID is an id with an optional prefix.
func TermID(prefix string) TermFormat {
	return func(value string) string { return strings.TrimPrefix(value, prefix) }
}

// TermDecimal is an amount: 12.5 equals 12.50.
func TermDecimal(value string) string {
	amount, err := decimal.NewFromString(value)
	if err != nil || amount.Exponent() > maxExponent || amount.Exponent() < -maxExponent {
		return value
	}
	return amount.String()
}

// maxExponent bounds the length of a decimal that is written out.
const maxExponent = 1000

// TermDuration is a number of s, m, h or d: 1h equals 60m.
func TermDuration(value string) string {
	seconds := map[byte]int{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}
	last := len(value) - 1 // a term is not empty
	count, err := strconv.Atoi(value[:last])
	unit := seconds[value[last]]
	if err != nil || unit == 0 {
		return value
	}
	return strconv.Itoa(count*unit) + "s"
}

// TermSet is a list of texts in any order.
func TermSet(value string) string {
	var items []string
	if jsonv2.Unmarshal([]byte(value), &items) != nil {
		return value
	}
	slices.Sort(items)
	return strings.Join(items, "\x00")
}

// Digests returns the digests of the terms in a body, and 0 for a term that the body does not have. A body that is not
// a JSON object has no terms.
func Digests(seed maphash.Seed, stated []Term, body []byte) []uint64 {
	scan := jsonscan.Over(body)
	if len(stated) == 0 || scan.Kind() != jsonv2.KindBeginObject {
		return nil
	}
	found := make([]uint64, len(stated))
	members := scan.Object()
	for scan.Member(&members) {
		for i, term := range stated {
			if term.Name != string(members.Name) {
				continue
			}
			if text := plain(&scan); text != "" {
				found[i] = maphash.String(seed, term.Format(text))
			}
			break
		}
	}
	if !scan.End() {
		return nil
	}
	return found
}

// Differing returns the members that both requests have, with different values. It ignores a member that only one of
// them has: the service may assume the same value for the other.
func Differing(stated []Term, before, now []uint64) (names []string) {
	for i := range min(len(before), len(now)) {
		both := before[i] != 0 && now[i] != 0
		if before[i] != now[i] && (both || stated[i].Choice) {
			names = append(names, stated[i].Name)
		}
	}
	return names
}

// plain reads a string without its quotes, and any other value as it is. Null is empty.
func plain(scan *jsonscan.Scanner) string {
	switch scan.Kind() {
	case jsonv2.KindString:
		return scan.Text()
	case jsonv2.KindNull:
		return ""
	}
	return string(scan.Raw())
}
