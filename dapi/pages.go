package dapi

import (
	"iter"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// pages walks a cursor list. Each range starts from the first cursor again.
func pages[T any](operation *transport.Operation, first string, fetch func(cursor string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := first; ; {
			items, next, err := fetch(cursor)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if next == cursor {
				yield(none, &errors.UnexpectedAnswer{Head: operation.Head(""), Status: http.StatusOK, Err: errStuck})
				return
			}
			cursor = next
		}
	}
}

var errStuck = errors.New("list does not advance: its cursor follows itself")
