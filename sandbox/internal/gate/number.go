package gate

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// numbers are the places in a value where the description has numbers whose digits all count. Validation reads every
// number as a float64, which hides an integer that is too large, and an amount that is too long.
type numbers struct {
	amount  bool // an amount as a number
	text    bool // an amount as a string
	either  bool // the type is not stated, so both are accepted
	bits    int  // the size of an integer, or 0
	members map[string]*numbers
	entries *numbers // of a list
}

// numbersOfBody returns the numbers of an operation's request body, or nil.
func numbersOfBody(operation *openapi3.Operation) *numbers {
	if operation.RequestBody == nil {
		return nil
	}
	media := operation.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		return nil
	}
	return numbersOf(media.Schema)
}

// numbersOf returns nil for a schema without numbers.
func numbersOf(schema *openapi3.SchemaRef) *numbers {
	if schema == nil {
		return nil
	}
	var found numbers
	switch {
	case schema.Value.Type.Is(openapi3.TypeInteger) && schema.Value.Format == "int64":
		found.bits = 64
	case schema.Value.Type.Is(openapi3.TypeInteger):
		found.bits = strconv.IntSize // the size of int, which the generated server uses
	case schema.Value.Format == "decimal-number":
		found.amount = true
	case schema.Value.Format == "decimal":
		found.text = true
	}
	for name, property := range schema.Value.Properties {
		found.add(&numbers{members: map[string]*numbers{name: numbersOfMember(schema.Value, property)}})
	}
	found.entries = numbersOf(schema.Value.Items)
	for _, part := range schema.Value.AllOf {
		found.add(numbersOf(part))
	}
	if !found.amount && !found.text && found.bits == 0 && found.members == nil && found.entries == nil {
		return nil
	}
	return &found
}

// add adds the places of another part of the same schema.
func (n *numbers) add(other *numbers) {
	if other == nil {
		return
	}
	n.amount = n.amount || other.amount
	n.text = n.text || other.text
	n.either = n.either || other.either
	n.bits = max(n.bits, other.bits)
	if n.entries == nil {
		n.entries = other.entries
	}
	for name, inner := range other.members {
		switch known := n.members[name]; {
		case inner == nil:
		case known != nil:
			known.add(inner)
		case n.members == nil:
			n.members = map[string]*numbers{name: inner}
		default:
			n.members[name] = inner
		}
	}
}

// wrong lists the numbers of a valid value that cannot be read. path is the path of the value. The members of an object
// are read if they are not given.
func (n *numbers) wrong(value jsontext.Value, given members, path string) []wire.Field {
	if n == nil {
		return nil
	}
	switch value.Kind() {
	case '0':
		return n.wrongNumber(string(value), path)
	case '{':
		return n.wrongMembers(value, given, path)
	case '[':
		return n.wrongEntries(value, path)
	default:
		return nil
	}
}

func (n *numbers) wrongNumber(text, path string) []wire.Field {
	if n.amount {
		if _, err := wire.ParseNumber(text); err != nil {
			return []wire.Field{{Field: path, Code: "decimal_max_digits",
				Message: "The number has too many digits or too large an exponent."}}
		}
		return nil
	}
	if n.bits > 0 {
		if _, err := strconv.ParseInt(text, 10, n.bits); err != nil {
			return []wire.Field{{Field: path, Code: "int_type", Message: "The value is not an integer of " +
				strconv.Itoa(n.bits) + " bits."}}
		}
	}
	return nil
}

func (n *numbers) wrongMembers(object jsontext.Value, given members, path string) (wrong []wire.Field) {
	if n.members == nil {
		return nil
	}
	given = given.orRead(object)
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		wrong = append(wrong, n.members[name].wrong(given[name], nil, within(path, name))...)
	}
	return wrong
}

func (n *numbers) wrongEntries(list jsontext.Value, path string) (wrong []wire.Field) {
	if n.entries == nil {
		return nil
	}
	var given []jsontext.Value
	_ = json.Unmarshal(list, &given) // it was valid as a part of the body
	for i, entry := range given {
		wrong = append(wrong, n.entries.wrong(entry, nil, within(path, strconv.Itoa(i)))...)
	}
	return wrong
}

// within returns the path of a part.
func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// numbersOfMember returns the numbers of one member of an object. For an amount it says whether the JSON type is
// stated. If the service's description leaves the type open, our type is a guess, and callers may use the other one.
func numbersOfMember(object *openapi3.Schema, member *openapi3.SchemaRef) *numbers {
	found := numbersOf(member)
	if found == nil {
		return nil
	}
	found.either = (found.amount || found.text) && (assumes(member.Value, "type") || assumes(object, "fieldTypes"))
	stated, _ := member.Value.Extensions["x-stated-types"].([]any)
	for _, name := range stated { // the types of a list's entries are marked here
		if name, ok := name.(string); ok && found.entries != nil && found.entries.members[name] != nil {
			found.entries.members[name].either = false
		}
	}
	return found
}

// assumes reports whether an aspect of a schema, or the whole schema, is an assumption.
func assumes(schema *openapi3.Schema, aspect string) bool {
	switch mark := schema.Extensions["x-assumed"].(type) {
	case string:
		return true
	case map[string]any:
		return mark[aspect] != nil
	default:
		return false
	}
}

// normalized converts every amount whose JSON type is not stated to the assumed type, so that all later code reads one
// type. A value that is not an amount stays as it is: the validation refuses it. If the members of an object are given,
// they change with it. Otherwise they are read.
func (n *numbers) normalized(value jsontext.Value, given members) jsontext.Value {
	switch {
	case n == nil:
		return value
	case value.Kind() == jsontext.KindNumber && n.either && n.text:
		return asText(value)
	case value.Kind() == jsontext.KindString && n.either && n.amount:
		return asNumber(value)
	case value.Kind() == jsontext.KindBeginObject && n.members != nil:
		return n.normalizedMembers(value, given.orRead(value))
	case value.Kind() == jsontext.KindBeginArray && n.entries != nil:
		return n.normalizedEntries(value)
	default:
		return value
	}
}

func (n *numbers) normalizedMembers(object jsontext.Value, given members) jsontext.Value {
	changed := false
	for name, place := range n.members {
		if value, ok := given[name]; ok {
			given[name] = place.normalized(value, nil)
			changed = changed || !bytes.Equal(given[name], value)
		}
	}
	return rewritten(object, given, changed)
}

func (n *numbers) normalizedEntries(list jsontext.Value) jsontext.Value {
	var given []jsontext.Value
	_ = json.Unmarshal(list, &given) // it was valid as a part of the body
	changed := false
	for i, entry := range given {
		given[i] = n.entries.normalized(entry, nil)
		changed = changed || !bytes.Equal(given[i], entry)
	}
	return rewritten(list, given, changed)
}

// rewritten returns a value with changed parts. Without a change it returns the original bytes.
func rewritten(value jsontext.Value, parts any, changed bool) jsontext.Value {
	if !changed {
		return value
	}
	text, err := json.Marshal(parts)
	if err != nil { // impossible: the parts were read from JSON
		return value
	}
	return text
}

// asText quotes a number, and writes it without an exponent, which the strings do not allow.
func asText(literal jsontext.Value) jsontext.Value {
	value, err := wire.ParseNumber(string(literal))
	if err != nil {
		return literal
	}
	return strconv.AppendQuote(nil, value.String())
}

// asNumber removes the quotes of a string that holds an amount.
func asNumber(quoted jsontext.Value) jsontext.Value {
	text, ok := stringOf(quoted)
	if !ok {
		return quoted
	}
	value, err := wire.ParseNumberText(text)
	if err != nil {
		return quoted
	}
	return jsontext.Value(value.String())
}
