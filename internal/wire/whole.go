package wire

import (
	"reflect"
	"strings"
	"sync"
)

// whole reports that nothing that has to be there is missing from a value that was decoded from body. It may say no of one that is, for a
// field deep inside can be zero because the member says so; what looks more closely finds nothing then.
func whole(value any, shape *Shape, body []byte) bool {
	v := reflect.ValueOf(value).Elem()
	return checksOf(v.Type(), shape).pass(v, body)
}

// checks are the fields of a type that are looked at.
type checks struct {
	fields []check
	list   bool
	item   *checks // of a list, nil if nothing in an entry has to be there
	union  bool
}

type check struct {
	index int
	name  string
	must  bool
	proof bool
	deep  *checks // of what the field holds, nil if nothing in it has to be there
}

type checked struct {
	typ   reflect.Type
	shape *Shape
}

// known holds the checks by type and shape, a fixed set of them.
var known sync.Map

func checksOf(t reflect.Type, shape *Shape) *checks {
	key := checked{t, shape}
	if found, ok := known.Load(key); ok {
		return found.(*checks) //nolint:errcheck // nothing else is stored
	}
	made := newChecks(t, shape)
	known.Store(key, made)
	return made
}

func newChecks(t reflect.Type, shape *Shape) *checks {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case shape.Kind == KindUnion && t.Kind() == reflect.Struct:
		return &checks{union: true}
	case shape.Kind == KindList && t.Kind() == reflect.Slice:
		return &checks{list: true, item: newChecks(t.Elem(), shape.Item).orNil()}
	case shape.Kind != KindObject || t.Kind() != reflect.Struct:
		return &checks{}
	}
	c := &checks{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		member := shape.member(name)
		if member == nil {
			continue
		}
		field := check{
			index: i, name: name, must: member.Required != 0 || member.Proof, proof: member.Proof,
			deep: newChecks(t.Field(i).Type, member.Shape).orNil(),
		}
		if field.must || field.deep != nil {
			c.fields = append(c.fields, field)
		}
	}
	return c
}

// orNil is nil if there is nothing to check.
func (c *checks) orNil() *checks {
	if len(c.fields) == 0 && !c.list && !c.union {
		return nil
	}
	return c
}

// pass looks at a value, which body holds if it is not nil.
func (c *checks) pass(v reflect.Value, body []byte) bool {
	switch {
	case v.Kind() == reflect.Pointer:
		return v.IsNil() || c.pass(v.Elem(), body)
	case c.union:
		return !unreadUnion(v)
	case c.list:
		return c.passEntries(v)
	}
	for i := range c.fields {
		if !c.fields[i].pass(v.Field(c.fields[i].index), body) {
			return false
		}
	}
	return true
}

// passEntries takes an entry that is zero for null, if nothing in it tells.
func (c *checks) passEntries(v reflect.Value) bool {
	for i := range v.Len() {
		entry := v.Index(i)
		if c.item == nil && missing(entry) || c.item != nil && !c.item.pass(entry, nil) {
			return false
		}
	}
	return true
}

func (c *check) pass(field reflect.Value, body []byte) bool {
	if missing(field) {
		return !c.must || !c.proof && saysZero(body, c.name)
	}
	return c.deep == nil || c.deep.pass(field, nil)
}

func missing(v reflect.Value) bool {
	if v.Kind() == reflect.String {
		return v.Len() == 0
	}
	return v.IsZero()
}

// unreadUnion reports a union that holds JSON and no variant: one that this version does not know, or one that could not be read.
func unreadUnion(v reflect.Value) bool {
	variant, raw := v.FieldByName("variant"), v.FieldByName("raw")
	return variant.IsValid() && variant.IsNil() && raw.Len() > 0
}
