package contrary_test

import (
	"reflect"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// unreadPart is one entry of Response.Unread.
type unreadPart struct {
	at      pointer
	stated  bool
	problem string
}

// unread is what an answer says could not be read. It is read by its names, so that this package builds beside a
// version of the SDK whose answers do not say it; their cases fail.
func unread(answer moneymovement.Response) (parts []unreadPart) {
	entries := reflect.ValueOf(answer).FieldByName("Unread")
	if !entries.IsValid() {
		return nil
	}
	for i := range entries.Len() {
		entry := entries.Index(i)
		parts = append(parts, unreadPart{
			readPointer(entry.FieldByName("Pointer").String()), entry.FieldByName("Stated").Bool(),
			entry.FieldByName("Problem").String(),
		})
	}
	return parts
}
