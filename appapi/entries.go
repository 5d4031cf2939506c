package appapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// entriesOf lists the entries of a list's answer as they came, with those that are left out since they could not be
// read. It is nil if all were read.
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

// inPlace puts what was read of a list where it stood in it, with zero values for the entries that were left out.
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

// capturing is the options with one that keeps the answer, besides where the caller keeps it.
func capturing(options []moneymovement.CallOption, answer *moneymovement.Response) []moneymovement.CallOption {
	return append(options[:len(options):len(options)], moneymovement.CaptureResponse(answer))
}
