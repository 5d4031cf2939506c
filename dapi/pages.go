package dapi

import (
	"fmt"
	"iter"
	"math"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// pages walks a cursor list. Each range starts from the first cursor again.
func pages[T any](operation *transport.Operation, first string, fetch func(cursor string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return pagesUpTo(math.MaxInt, operation, first, fetch)
}

// pagesUpTo walks a cursor list of at most so many pages; one that goes on is an error. Walks that nobody asked for are bounded.
func pagesUpTo[T any](
	most int, operation *transport.Operation, first string, fetch func(cursor string) (items []T, next string, err error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		refuse := func(reason error) {
			yield(none, &errors.UnexpectedAnswer{Head: operation.Head(""), Status: http.StatusOK, Err: reason})
		}
		walked := transport.NewTrail(first)
		for cursor, page := first, 1; ; page++ {
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
			switch {
			case walked.Again(next):
				refuse(errStuck)
				return
			case page == most:
				refuse(fmt.Errorf("list has more than %d pages", most))
				return
			}
			cursor = next
		}
	}
}

var errStuck = errors.New("list does not advance: its cursor leads back to a page that was read")
