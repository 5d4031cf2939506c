// Package listing makes pages of lists that are kept oldest first, and finds texts in entries of lists.
package listing

import (
	"cmp"
	"strings"
)

// Page says which entries of a list to return. The zero Page is the first page.
type Page struct{ Limit, Offset int }

// defaultLimit is how many entries a list returns by default.
const defaultLimit = 50

// Newest returns a page of the visible entries, newest first, and the number of all visible entries. It views only the
// entries of the page.
func Newest[T, V any](oldestFirst []T, visible func(T) bool, view func(T) V, page Page) (items []V, total int) {
	items = []V{}
	limit := cmp.Or(page.Limit, defaultLimit)
	for i := len(oldestFirst) - 1; i >= 0; i-- {
		entry := oldestFirst[i]
		if !visible(entry) {
			continue
		}
		if total >= page.Offset && len(items) < limit {
			items = append(items, view(entry))
		}
		total++
	}
	return items, total
}

// Found reports whether a text is in what a list shows of an entry. An empty text is in every entry. The case does not
// matter, and a space finds an underscore: lists show under_review as "Under review".
func Found(text string, shown ...string) bool {
	return strings.Contains(plain(strings.Join(shown, " ")), plain(text))
}

func plain(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", " ") }
