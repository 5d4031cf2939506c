package appapi

import (
	"iter"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// page is one answer of a list. Total is how many entries there are in all, 0 if the service did not say.
type page[T any] struct {
	items []T
	total int
}

// pages walks a list by offset, from a first entry on, to an empty page. Each range starts there again. Neither a total ends it nor a page
// that is not full: the one is assumed, and how many entries a service gives at most is not stated, so that either could lose the rest.
//
// A page that is there twice in a row comes from a service that passes over the offset, which is not stated for every list: that ends the walk
// too. It is an error where there must be others: the total says so, or the first page has just as many entries as were asked for. A page from
// further back is always an error.
func pages[T any](operation *transport.Operation, first, limit int, fetch func(offset int) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		stuck := func() {
			yield(none, &errors.UnexpectedAnswer{Head: operation.Head(""), Status: http.StatusOK, Err: errStuck})
		}
		walked := transport.NewTrail("")
		var before []T
		for offset := first; ; {
			got, err := fetch(offset)
			switch {
			case err != nil:
				yield(none, err)
				return
			case len(got.items) == 0:
				return
			case reflect.DeepEqual(got.items, before):
				if got.total > offset || offset-first == limit {
					stuck()
				}
				return
			case known(walked, got.items):
				stuck()
				return
			}
			for _, item := range got.items {
				if !yield(item, nil) {
					return
				}
			}
			offset += len(got.items)
			before = got.items
		}
	}
}

var errStuck = errors.New("list does not advance: it answers a page again at another offset")

// known takes a page down, and reports one that was there before. One that cannot be written, such as with an entry of null, is new.
func known(walked *transport.Trail, items any) bool {
	text, err := json.Marshal(items, json.Deterministic(true))
	return err == nil && walked.Again(string(text))
}
