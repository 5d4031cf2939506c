package peers

import (
	"strings"

	"github.com/moneymovement/moneymovement-go/bench/internal/service"
)

// oneSize and pageSize are the sizes of the SDK's responses, to which the shapes of the peers are padded.
var (
	oneSize  = len(service.Payout(service.Plain))
	pageSize = len(service.Page(service.Plain, 0, "1"))
)

// padded returns a text with so much filler that it has this size.
func padded(size int, text func(filler string) string) string {
	const words = "paid in full for the work of May "
	missing := max(0, size-len(text("")))
	return text(strings.Repeat(words, missing/len(words)+1)[:missing])
}

// listed returns a page of a hundred entries between two texts, of the size of the SDK's page.
func listed(before string, entry func(number int, filler string) string, after string) string {
	const entries = service.PageLength
	each := (pageSize - len(before) - len(after)) / entries
	items := make([]string, entries)
	for i := range items {
		items[i] = padded(each-1, func(filler string) string { return entry(i, filler) })
	}
	return before + strings.Join(items, ",") + after
}
