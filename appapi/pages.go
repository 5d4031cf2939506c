package appapi

import (
	"context"
	"iter"
	"net/http"
	"reflect"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// page is one answer of a list. Total is how many entries there are in all, 0 if the service did not say.
type page[T any] struct {
	items []T
	total int

	left []wire.Entry // all entries as they came, if some of them could not be read
}

// count is the number of entries that came, with those that could not be read.
func (p *page[T]) count() int { return max(len(p.items), len(p.left)) }

// same reports that nothing tells two pages apart.
func (p *page[T]) same(other *page[T]) bool {
	return reflect.DeepEqual(p.items, other.items) && reflect.DeepEqual(p.left, other.left)
}

// again takes the page down, and reports one that was there before. One that cannot be written, such as with an entry
// of null, is new.
func (p *page[T]) again(walked *transport.Trail) bool {
	text, err := jsonv2.Marshal(p.items, jsonv2.Deterministic())
	for _, entry := range p.left {
		text = append(append(text, ' '), entry.Raw...)
	}
	return err == nil && walked.Again(string(text))
}

// mostBlind bounds how often a walk comes by a page again of which nothing can be read. Two that are alike may well be
// two: both hold null.
const mostBlind = 20

// pages walks a list by offset, from where its parameters begin, to an empty page. Each range starts there again.
// Neither a total ends it nor a page that is not full: the one is assumed, and how many entries a service gives at most
// is not stated, so that either could lose the rest. An entry that cannot be read is counted with the others. window
// says where the parameters keep their offset and what their limit is, and read what an answer holds.
//
// A page that is there twice in a row comes from a service that passes over the offset, which is not stated for every
// list: that ends the walk too. It is an error where there must be others: the total says so, or the first page has
// just as many entries as were asked for. A page from further back is always an error.
func pages[P, L, T any](
	ctx context.Context, operation *transport.Operation, list func(context.Context, P, ...moneymovement.CallOption) (*L,
		error), params P,
	options []moneymovement.CallOption, window func(*P) (offset *int, limit int), read func(*L) (items []T, total int),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		stuck := func() {
			yield(none, &errors.UnexpectedResponse{CallInfo: operation.Head(""), Status: http.StatusOK, Err: errStuck})
		}
		params := params
		offset, limit := window(&params)
		first := *offset
		walked := transport.NewTrail("")
		var before page[T]
		blind := 0
		for {
			var answer moneymovement.Response
			listed, err := list(ctx, params, capturing(options, &answer)...)
			if err != nil {
				yield(none, err)
				return
			}
			items, total := read(listed)
			got := page[T]{items: items, total: total, left: entriesOf(operation, &answer)}
			switch {
			case got.count() == 0:
				return
			case len(got.items) == 0:
				if got.again(walked) {
					blind++
				}
				if blind == mostBlind {
					stuck()
					return
				}
			case got.same(&before):
				if got.total > *offset || *offset-first == limit {
					stuck()
				}
				return
			case got.again(walked):
				stuck()
				return
			}
			for _, item := range got.items {
				if !yield(item, nil) {
					return
				}
			}
			*offset += got.count()
			before = got
		}
	}
}

var errStuck = errors.New("list does not advance: it answers a page again at another offset")
