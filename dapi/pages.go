package dapi

import (
	"fmt"
	"hash/maphash"
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
		walked := newTrail(first)
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
			case walked.again(next):
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

// trail remembers which cursors a walk has followed, by a hash of each: a cursor has up to 512 characters. When it is full, it
// begins anew, so that a circle that is shorter than that is noticed however long the walk was before.
type trail struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

const longestTrail = 1 << 16

func newTrail(first string) *trail {
	t := &trail{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	t.again(first)
	return t
}

// again takes a cursor down, and reports one that is known.
func (t *trail) again(cursor string) bool {
	if len(t.seen) == longestTrail {
		clear(t.seen)
	}
	before := len(t.seen)
	t.seen[maphash.String(t.seed, cursor)] = struct{}{}
	return len(t.seen) == before
}
