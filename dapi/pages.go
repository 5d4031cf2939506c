package dapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// pages walks a cursor list from where its parameters begin, at each range anew, over at most so many pages; one that
// goes on is an error. Walks that nobody asked for are bounded. cursor says where the parameters keep theirs, and read
// what a page holds.
func pages[P, L, T any](
	ctx context.Context, most int, operation *transport.Operation,
	list func(context.Context, P, ...moneymovement.CallOption) (*L, error), params P,
	options []moneymovement.CallOption, cursor func(*P) *string, read func(*L) (items []T, next string),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		refuse := func(reason error) {
			yield(none, &errors.UnexpectedResponse{CallInfo: operation.Head(""), Status: http.StatusOK, Err: reason})
		}
		params := params
		at := cursor(&params)
		walked := transport.NewTrail(*at)
		for page := 1; ; page++ {
			answer, err := list(ctx, params, options...)
			if err != nil {
				yield(none, err)
				return
			}
			items, next := read(answer)
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
			*at = next
		}
	}
}

var errStuck = errors.New("list does not advance: its cursor leads back to a page that was read")
