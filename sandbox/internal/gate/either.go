package gate

import (
	"bytes"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

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
