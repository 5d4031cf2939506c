package appapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// entriesOf returns all entries of a list response as they came, also those that could not be read. It returns nil if
// all were read.
func entriesOf(operation *transport.Operation, answer *moneymovement.Response) []wire.Entry {
	if len(answer.Unread) == 0 {
		return nil
	}
	entries := operation.Answer.Entries(answer.Body)
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
func capturing(options []moneymovement.CallOption, answer *moneymovement.Response) []moneymovement.CallOption {
	return append(options[:len(options):len(options)], moneymovement.CaptureResponse(answer))
}
