package appapi

import (
	"iter"
	"net/http"
	"reflect"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// page is one answer of a list. Total is how many entries there are in all, 0 if the service did not say.
type page[T any] struct {
	items []T
	total int
}

// pages walks a list by offset, from a first entry on. Each range starts there again. The walk ends where the total says. Without one, it ends
// at an empty page, and not at one that is not full: how many entries a service gives at most is not stated, and a walk that takes a
// smaller bound than its own for the end would lose the rest. A page that is there twice comes from a service that passes over the offset, which
// is not stated for every list: that ends the walk too, with an error if the total says that there are others.
func pages[T any](operation *transport.Operation, first int, fetch func(offset int) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		var before []T
		for offset := first; ; {
			got, err := fetch(offset)
			if err != nil {
				yield(none, err)
				return
			}
			counted := got.total > 0
			if len(got.items) == 0 {
				return
			}
			if reflect.DeepEqual(got.items, before) {
				if counted {
					yield(none, &errors.UnexpectedAnswer{Head: operation.Head(""), Status: http.StatusOK, Err: errStuck})
				}
				return
			}
			for _, item := range got.items {
				if !yield(item, nil) {
					return
				}
			}
			offset += len(got.items)
			if counted && offset >= got.total {
				return
			}
			before = got.items
		}
	}
}

var errStuck = errors.New("list does not advance: it answers the same page at another offset")
