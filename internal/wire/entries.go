package wire

import "github.com/moneymovement/moneymovement-go/internal/codec"

// Entry is an entry of a list as it was received.
type Entry struct {
	Raw  codec.Value
	Read bool // false if it is left out when the response is decoded
}

// Entries returns the entries of a list, in any envelope. [Answer.Decode] must have read the body. Decode names a
// bounded number of entries; Entries returns all.
func (a *Answer) Entries(body []byte) []Entry {
	raw := a.list(body)
	if raw == nil {
		return nil
	}
	list := a.Shape
	if m := a.Shape.proof(KindList); m != nil {
		list = m.Shape
	}
	var found []Entry
	for _, entry := range entries(raw) {
		var b bender
		_, problem := b.value(entry, list.Item, "", Assumed)
		found = append(found, Entry{Raw: entry, Read: problem == ""})
	}
	return found
}
