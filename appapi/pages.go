package appapi

import (
	"context"
	"iter"
	"net/http"
	"reflect"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// page is one page of a list. total is how many entries the whole list has, or 0 if the service did not report it.
type page[T any] struct {
	items []T
	total int

	left []wire.Entry // all entries as they came, if some could not be read
}

// count returns how many entries came, including those that could not be read.
func (p *page[T]) count() int { return max(len(p.items), len(p.left)) }

// same reports whether two pages are equal.
func (p *page[T]) same(other *page[T]) bool {
	return reflect.DeepEqual(p.items, other.items) && reflect.DeepEqual(p.left, other.left)
}

// again records the page, and reports whether it was seen before. A page that cannot be encoded, such as one with a
// null entry, counts as new.
func (p *page[T]) again(walked *transport.Trail) bool {
	text, err := codec.Marshal(p.items, codec.Deterministic())
	for _, entry := range p.left {
		text = append(append(text, ' '), entry.Raw...)
	}
	return err == nil && walked.Again(string(text))
}

// mostBlind bounds how often a list may return an equal page of which no entry can be read. Two such pages can be
// different ones: both hold only null.
const mostBlind = 20

// pages reads a list by offset until a page is empty. It starts at the offset of params, also when it is ranged over
// again. Neither the total nor a short page ends it: the total is assumed, and the service states no page size, so
// either could lose entries. An entry that cannot be read counts like any other. window returns the place of the offset
// in the parameters, and their limit. read returns the entries and the total of a response.
//
// A service that ignores the offset returns the same page twice in a row. That ends the list as well. It is an error if
// more entries must exist: the total says so, or the first page has exactly as many entries as were asked for. A page
// that is equal to an earlier one is always an error.
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
			var response moneymovement.Response
			listed, err := list(ctx, params, capturing(options, &response)...)
			if err != nil {
				yield(none, err)
				return
			}
			items, total := read(listed)
			got := page[T]{items: items, total: total, left: entriesOf(operation, &response)}
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

var errStuck = errors.New("the list does not advance: the service returned the same page at another offset; " +
	"call List, and report this to the service")

// entriesOf returns all entries of a list response as they came, also those that could not be read. It returns nil if
// all were read.
func entriesOf(operation *transport.Operation, response *moneymovement.Response) []wire.Entry {
	if len(response.Unread) == 0 {
		return nil
	}
	entries := operation.Response.Entries(response.Body)
	for _, entry := range entries {
		if !entry.Read {
			return entries
		}
	}
	return nil
}

// inPlace returns the entries at their places in the list, with a zero value for each one that could not be read.
func inPlace[T any](read []T, entries []wire.Entry) []T {
	if entries == nil {
		return read
	}
	all := make([]T, len(entries))
	for i, entry := range entries {
		if entry.Read && len(read) > 0 {
			all[i], read = read[0], read[1:]
		}
	}
	return all
}

// capturing adds an option that keeps the response. The caller's own captures still work.
func capturing(options []moneymovement.CallOption, response *moneymovement.Response) []moneymovement.CallOption {
	return append(options[:len(options):len(options)], moneymovement.CaptureResponse(response))
}
