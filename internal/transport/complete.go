package transport

import (
	"fmt"
	"reflect"
	"sync"
)

// complete refuses a success that is not the resource that was asked for. Unknown members are skipped and absent ones are zero, so that an
// answer of another shape, such as one inside an envelope, would pass for a payout without an id, or for an empty ledger.
func complete(value any) error {
	v := reflect.ValueOf(value).Elem()
	for _, telling := range tellingFields(v.Type()) {
		if v.Field(telling.index).IsZero() {
			return fmt.Errorf("answer has no %s", telling.name)
		}
	}
	return nil
}

// idOf is the id of an answer that is a resource, else empty.
func idOf(value any) string {
	v := reflect.ValueOf(value).Elem()
	for _, telling := range tellingFields(v.Type()) {
		if telling.name == "id" && v.Field(telling.index).Kind() == reflect.String {
			return v.Field(telling.index).String()
		}
	}
	return ""
}

// telling is a field that every answer of its type has.
type telling struct {
	index int
	name  string // in wire spelling
}

// tellings holds the telling fields by type, a fixed set of types.
var tellings sync.Map

// tellingFields are the id of a resource and the items of a page, where the description requires them. The generator leaves `omitempty` out
// of the tags of those.
func tellingFields(t reflect.Type) []telling {
	if known, ok := tellings.Load(t); ok {
		return known.([]telling) //nolint:errcheck // nothing else is stored
	}
	var found []telling
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if tag := t.Field(i).Tag.Get("json"); tag == "id" || tag == "items" {
			found = append(found, telling{i, tag})
		}
	}
	tellings.Store(t, found)
	return found
}
