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

// numberSchema says where a value has numbers whose digits all count. Validation reads every number as a float64, which
// hides an integer that is too large, and an amount that is too long.
type numberSchema struct {
	amount  bool // an amount as a number
	text    bool // an amount as a string
	anyType bool // the type is not stated, so both are accepted
	bits    int  // the size of an integer, or 0
	members map[string]*numberSchema
	entries *numberSchema // of a list
}

// numbersOfBody returns the numbers of an operation's request body, or nil.
func numbersOfBody(operation *openapi3.Operation) *numberSchema {
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
func numbersOf(schema *openapi3.SchemaRef) *numberSchema {
	if schema == nil {
		return nil
	}
	var result numberSchema
	switch {
	case schema.Value.Type.Is(openapi3.TypeInteger) && schema.Value.Format == "int64":
		result.bits = 64
	case schema.Value.Type.Is(openapi3.TypeInteger):
		result.bits = strconv.IntSize // the size of int, which the generated server uses
	case schema.Value.Format == "decimal-number":
		result.amount = true
	case schema.Value.Format == "decimal":
		result.text = true
	}
	for name, property := range schema.Value.Properties {
		result.merge(&numberSchema{members: map[string]*numberSchema{name: numbersOfMember(schema.Value, property)}})
	}
	result.entries = numbersOf(schema.Value.Items)
	for _, part := range schema.Value.AllOf {
		result.merge(numbersOf(part))
	}
	if !result.amount && !result.text && result.bits == 0 && result.members == nil && result.entries == nil {
		return nil
	}
	return &result
}

// merge adds the places of another part of the same schema.
func (n *numberSchema) merge(other *numberSchema) {
	if other == nil {
		return
	}
	n.amount = n.amount || other.amount
	n.text = n.text || other.text
	n.anyType = n.anyType || other.anyType
	n.bits = max(n.bits, other.bits)
	if n.entries == nil {
		n.entries = other.entries
	}
	for name, inner := range other.members {
		switch known := n.members[name]; {
		case inner == nil:
		case known != nil:
			known.merge(inner)
		case n.members == nil:
			n.members = map[string]*numberSchema{name: inner}
		default:
			n.members[name] = inner
		}
	}
}

// validate lists the numbers of a valid value that are out of range. path is the path of the value. It parses the
// members of an object if they are nil.
func (n *numberSchema) validate(value jsontext.Value, present members, path string) []wire.Field {
	if n == nil {
		return nil
	}
	switch value.Kind() {
	case '0':
		return n.validateNumber(string(value), path)
	case '{':
		return n.validateMembers(value, present, path)
	case '[':
		return n.validateEntries(value, path)
	default:
		return nil
	}
}

func (n *numberSchema) validateNumber(text, path string) []wire.Field {
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

func (n *numberSchema) validateMembers(object jsontext.Value, present members, path string) (wrong []wire.Field) {
	if n.members == nil {
		return nil
	}
	present = present.orParse(object)
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		wrong = append(wrong, n.members[name].validate(present[name], nil, joinPath(path, name))...)
	}
	return wrong
}

func (n *numberSchema) validateEntries(list jsontext.Value, path string) (wrong []wire.Field) {
	if n.entries == nil {
		return nil
	}
	var present []jsontext.Value
	_ = json.Unmarshal(list, &present) // it was valid as a part of the body
	for i, entry := range present {
		wrong = append(wrong, n.entries.validate(entry, nil, joinPath(path, strconv.Itoa(i)))...)
	}
	return wrong
}

// joinPath returns the path of a part.
func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// numbersOfMember returns the numbers of one member of an object. For an amount it says whether the JSON type is
// stated. If the service's description leaves the type open, our type is a guess, and callers may use the other one.
func numbersOfMember(object *openapi3.Schema, member *openapi3.SchemaRef) *numberSchema {
	result := numbersOf(member)
	if result == nil {
		return nil
	}
	result.anyType = (result.amount || result.text) &&
		(isAssumed(member.Value, "type") || isAssumed(object, "fieldTypes"))
	stated, _ := member.Value.Extensions["x-stated-types"].([]any)
	for _, name := range stated { // the types of a list's entries are marked here
		if name, ok := name.(string); ok && result.entries != nil && result.entries.members[name] != nil {
			result.entries.members[name].anyType = false
		}
	}
	return result
}

// isAssumed reports whether an aspect of a schema, or the whole schema, is an assumption.
func isAssumed(schema *openapi3.Schema, aspect string) bool {
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
// type. A value that is not an amount stays as it is: the validation refuses it. The members of an object, if they are
// passed, change with it.
func (n *numberSchema) normalized(value jsontext.Value, present members) jsontext.Value {
	switch {
	case n == nil:
		return value
	case value.Kind() == jsontext.KindNumber && n.anyType && n.text:
		return asText(value)
	case value.Kind() == jsontext.KindString && n.anyType && n.amount:
		return asNumber(value)
	case value.Kind() == jsontext.KindBeginObject && n.members != nil:
		return n.normalizedMembers(value, present.orParse(value))
	case value.Kind() == jsontext.KindBeginArray && n.entries != nil:
		return n.normalizedEntries(value)
	default:
		return value
	}
}

func (n *numberSchema) normalizedMembers(object jsontext.Value, present members) jsontext.Value {
	changed := false
	for name, place := range n.members {
		if value, ok := present[name]; ok {
			present[name] = place.normalized(value, nil)
			changed = changed || !bytes.Equal(present[name], value)
		}
	}
	return reencode(object, present, changed)
}

func (n *numberSchema) normalizedEntries(list jsontext.Value) jsontext.Value {
	var present []jsontext.Value
	_ = json.Unmarshal(list, &present) // it was valid as a part of the body
	changed := false
	for i, entry := range present {
		present[i] = n.entries.normalized(entry, nil)
		changed = changed || !bytes.Equal(present[i], entry)
	}
	return reencode(list, present, changed)
}

// reencode returns a value with changed parts. Without a change it returns the original bytes.
func reencode(value jsontext.Value, parts any, changed bool) jsontext.Value {
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
