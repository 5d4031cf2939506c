package appapi

import "iter"

// page is one answer of a list. Total is how many entries there are in all, 0 if the service did not say.
type page[T any] struct {
	items []T
	total int
}

// pages walks a list by offset, from a first entry on. Each range starts there again. The walk ends where the total says; without one, at
// a page that is not full. An empty page ends it in any case, so that a service that counts wrong cannot keep it going.
func pages[T any](limit, first int, fetch func(offset int) (page[T], error)) iter.Seq2[T, error] {
	if limit == 0 {
		limit = defaultLimit
	}
	return func(yield func(T, error) bool) {
		var none T
		for offset := first; ; {
			got, err := fetch(offset)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range got.items {
				if !yield(item, nil) {
					return
				}
			}
			offset += len(got.items)
			switch {
			case len(got.items) == 0, got.total > 0 && offset >= got.total, got.total <= 0 && len(got.items) < limit:
				return
			}
		}
	}
}

// defaultLimit is how many entries a page has if none is asked for. It is assumed, as on the platform API.
const defaultLimit = 50
