package transport

import (
	"reflect"
	"strings"
	"sync"
)

// memberOf names a member of a struct.
type memberOf struct {
	of   reflect.Type
	name string
}

// textMembers remembers which fields are members, because looking through the tags of a struct takes long.
var textMembers sync.Map

// textMember returns the text of a member of a struct, or of what points to one. It is empty if there is no such
// member.
func textMember(value any, name string) string {
	v := reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return ""
	}
	wanted := memberOf{v.Type(), name}
	found, known := textMembers.Load(wanted)
	if !known {
		found = wanted.field()
		textMembers.Store(wanted, found)
	}
	if field, ok := found.(int); ok && field >= 0 {
		return v.Field(field).String()
	}
	return ""
}

// field returns the index of the member's field, or -1.
func (m memberOf) field() int {
	for i := range m.of.NumField() {
		name, _, _ := strings.Cut(m.of.Field(i).Tag.Get("json"), ",")
		if name == m.name && m.of.Field(i).Type.Kind() == reflect.String {
			return i
		}
	}
	return -1
}
