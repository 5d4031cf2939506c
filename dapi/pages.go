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

// pages iterates over a list with cursors, from the cursor of params on. Each range starts again. It reads at most
// `most` pages, and a longer list is an error: a list that the SDK reads by itself must be limited. cursor returns the
// cursor field of the parameters, and read returns the items and the next cursor of a page.
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
			response, err := list(ctx, params, options...)
			if err != nil {
				yield(none, err)
				return
			}
			items, next := read(response)
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
				refuse(fmt.Errorf("the list has more than %d pages", most))
				return
			}
			*at = next
		}
	}
}

var errStuck = errors.New("the list does not advance: its cursor leads back to a page that was read")
