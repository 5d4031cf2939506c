package rig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// Paid is what left an account for one resource, such as a payout, by the host's books.
type Paid struct {
	Resource  string
	Amount    decimal.Decimal // what left, less what came back
	Movements int             // how often money left; more than one is a double payment
}

// Left returns what left an account, by resource, in the order of the first movement.
func (h *Host) Left(account string) []Paid {
	var all []Paid
	for _, entry := range h.Ledger().Entries {
		if entry.Account != account || entry.ResourceID == "" {
			continue
		}
		at := slices.IndexFunc(all, func(p Paid) bool { return p.Resource == entry.ResourceID })
		if at < 0 {
			if !entry.Amount.IsNegative() {
				continue // money that came in
			}
			at = len(all)
			all = append(all, Paid{Resource: entry.ResourceID})
		}
		all[at].Amount = all[at].Amount.Sub(entry.Amount)
		if entry.Amount.IsNegative() {
			all[at].Movements++
		}
	}
	return all
}

// keyHeader has the idempotency key of a request.
const keyHeader = "Idempotency-Key"

// KeysWithTwoBodies returns what breaks the rule that a key has one body: for each such key, a line with the request
// and both bodies. A signature is left out, because a key of ECDSA signs the same text in another way each time.
func (h *Host) KeysWithTwoBodies() []string {
	first := map[string]string{}
	var broken []string
	for _, r := range h.Raw() {
		key := r.Header.Get(keyHeader)
		if key == "" {
			continue
		}
		request := strings.Join([]string{r.Method, r.Path, key}, " ")
		said := unsigned(r.Body)
		body, seen := first[request]
		if !seen {
			first[request] = said
		} else if body != said {
			broken = append(broken, fmt.Sprintf("%s: %s, then %s", request, body, said))
		}
	}
	return broken
}

// unsigned returns a body without its signature.
func unsigned(body []byte) string {
	var fields map[string]jsontext.Value
	if json.Unmarshal(body, &fields) != nil || fields["signature"] == nil {
		return string(body)
	}
	delete(fields, "signature")
	text, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return string(body)
	}
	return string(text)
}
