package appapi

import (
	"iter"
	"reflect"
)

// page is one answer of a list. Total is how many entries there are in all, 0 if the service did not say.
type page[T any] struct {
	items []T
	total int
}

// pages walks a list by offset, from a first entry on. Each range starts there again. The walk ends where the total says. Without one, it ends
// at an empty page, and not at one that is not full: how many entries a service gives at most is not stated, and a walk that takes a
// smaller bound than its own for the end would lose the rest. A page that is there twice ends it too, for it comes from a service that passes
// over the offset, which is not stated for every list.
func pages[T any](first int, fetch func(offset int) (page[T], error)) iter.Seq2[T, error] {
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
			if len(got.items) == 0 || !counted && reflect.DeepEqual(got.items, before) {
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
