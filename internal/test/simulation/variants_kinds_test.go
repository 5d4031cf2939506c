package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
)

// kindVariants break rules of deals, of their actions, and of transfers.
func kindVariants() []variant {
	variants := []variant{
		{name: "a deal's key is made anew at each call", broke: Break{Connection: renamedDeals}},
		{name: "a transfer is repeated without its key", broke: Break{Connection: repeatedTransfers(
			func(string, int) string { return "" })}},
		{name: "a transfer is repeated with another key", broke: Break{Connection: repeatedTransfers(
			func(key string, call int) string { return key + "-" + strconv.Itoa(call) })}},
		{name: "deals are approved unread", broke: Break{Connection: lyingAboutDeals,
			Developer: func(d *dapi.Developer) {
				d.Verifier = func(context.Context, signing.Approval, signing.Intent) error { return nil }
			}}},
		{name: "each process opens deals with a key of its own", broke: Break{
			Submit: submitted(func(process int, deal *payments.EscrowPayment) {
				deal.Key += moneymovement.Key("-" + strconv.Itoa(process))
			})}},
		{name: "each process sends transfers with a key of its own", broke: Break{
			Submit: submitted(func(process int, transfer *payments.TransferPayment) {
				transfer.Key += moneymovement.Key("-" + strconv.Itoa(process))
			})}},
		storeVariant("an action is taken of another deal", otherDeals),
		dealVariant("a deal's doubt is not passed on", func(r *payments.Record) { r.MayHaveLeft = false }),
		dealVariant("a deal's doubt and id are not passed on", func(r *payments.Record) {
			r.MayHaveLeft, r.EscrowID = false, ""
		}),
		storeVariant("a deal has a longer window when it is tried again", claimedAgain(func(r *payments.Record) {
			if r.Kind == payments.KindEscrow {
				r.Escrow.HoldFor = "15d"
			}
		})),
		storeVariant("a deal that was not held is taken as held", saved(func(r *payments.Record) {
			if r.Kind == payments.KindEscrow && r.State == moneymovement.PaymentRefused {
				r.State = moneymovement.PaymentCompleted
			}
		})),
	}
	for i := range variants {
		variants[i].on = "payments"
	}
	return variants
}

// dealVariant changes the records of deals that were tried before, among deals alone.
func dealVariant(name string, change func(*payments.Record)) variant {
	v := storeVariant(name, claimedAgain(func(r *payments.Record) {
		if !r.State.Final() {
			change(r)
		}
	}))
	v.deck = []payments.Kind{payments.KindEscrow}
	return v
}

// renamedDeals gives each repetition of a deal's first call another key, and hides that from the program.
func renamedDeals(next http.RoundTripper) http.RoundTripper {
	var mu sync.Mutex
	calls := map[string]int{}
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		if !strings.Contains(r.URL.Path, "/escrow") {
			return next.RoundTrip(r)
		}
		key, _, confirms := strings.Cut(afterLast(r.URL.Path, "/actions/"), "/confirm")
		if !confirms {
			key = headerOf(r.Header, "Idempotency-Key")
		}
		mu.Lock()
		if strings.HasSuffix(r.URL.Path, "/escrow") {
			calls[key]++
		}
		used := key
		if calls[key] > 1 {
			used = fmt.Sprintf("%s-%d", key, calls[key])
		}
		mu.Unlock()
		if key == "" || used == key {
			return next.RoundTrip(r)
		}
		again := r.Clone(r.Context())
		again.URL.Path = strings.Replace(again.URL.Path, "/actions/"+key+"/", "/actions/"+used+"/", 1)
		if !confirms {
			again = keyed(again, used)
		}
		response, err := next.RoundTrip(again)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.ReplaceAll(body, []byte(`"`+used+`"`), []byte(`"`+key+`"`))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return response, nil
	})
}

// afterLast returns what follows a part of a text, or "".
func afterLast(text, part string) string {
	at := strings.LastIndex(text, part)
	if at < 0 {
		return ""
	}
	return text[at+len(part):]
}

// repeatedTransfers changes the keys of all requests for a transfer but the first.
func repeatedTransfers(change func(key string, call int) string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		var mu sync.Mutex
		calls := map[string]int{}
		return connectionFunc(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/apps/transfer") {
				return next.RoundTrip(r)
			}
			key := headerOf(r.Header, "Idempotency-Key")
			mu.Lock()
			calls[key]++
			call := calls[key]
			mu.Unlock()
			if call > 1 {
				r = keyed(r, change(key, call))
			}
			return next.RoundTrip(r)
		})
	}
}

// lyingAboutDeals changes the payee in each approval of a deal.
func lyingAboutDeals(next http.RoundTripper) http.RoundTripper {
	return lyingAbout(next, func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/escrow") || strings.HasSuffix(r.URL.Path, "/actions")
	}, `"address":"`+payee, `"address":"`+wallet)
}

// otherDeals lets actions be taken of the deal that was opened last.
func otherDeals() *brokenStore {
	var opened payments.Record
	return &brokenStore{save: func(claimed *payments.Claimed, _ bool) bool {
		edit(claimed, func(r *payments.Record) {
			if r.Kind == payments.KindEscrow && r.State == moneymovement.PaymentCompleted {
				opened = *r
			}
		})
		return false
	}, claimed: func(claimed []payments.Claimed) {
		for i := range claimed {
			edit(&claimed[i], func(r *payments.Record) {
				if r.Kind == payments.KindEscrowAction && opened.EscrowID != "" {
					r.EscrowID, r.Escrow = opened.EscrowID, opened.Escrow
				}
			})
		}
	}}
}
