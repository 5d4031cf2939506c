package contrary_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// sampler makes complete values out of schemas: every member is there, and none is empty, so that what is lost shows.
type sampler struct {
	variants map[int][]string // of unions, by the length of the path that leads there
	made     int
}

// sample is a complete value of a schema. variants select those of unions; others take the first, and lists have an
// entry for each.
func sample(schema wire.Node, variants map[int][]string) any {
	s := &sampler{variants: variants}
	value, _ := s.value(nil, schema.Layers())
	return value
}

// value is false where a schema describes nothing.
func (s *sampler) value(path []string, layers []wire.Node) (any, bool) {
	if len(layers) == 0 {
		return nil, false
	}
	for _, layer := range layers {
		if variants := layer.At("oneOf").Entries(); len(variants) > 0 {
			return s.value(path, s.variant(path, layer, variants).Layers())
		}
	}
	switch kind := typeOf(layers); kind {
	case "object":
		return s.object(path, layers), true
	case "array":
		return s.list(path, layers), true
	case "integer":
		s.made++
		return json.Number(fmt.Sprint(6 + s.made%20)), true
	case "number":
		s.made++
		return json.Number(fmt.Sprintf("%d.5", 10+s.made)), true
	case "boolean":
		return true, true
	default:
		return s.text(path, layers), true
	}
}

func typeOf(layers []wire.Node) string {
	for _, layer := range layers {
		if kind := layer.At("type").Text(); kind != "" {
			return kind
		}
	}
	return "object"
}

func (s *sampler) variant(path []string, union wire.Node, variants []wire.Node) wire.Node {
	for name, reference := range union.At("discriminator", "mapping").Members() {
		if !slices.Contains(s.variants[len(path)], name) {
			continue
		}
		for _, variant := range variants {
			if variant.At("$ref").Text() == reference.Text() {
				return variant
			}
		}
	}
	return variants[0]
}

func (s *sampler) object(path []string, layers []wire.Node) map[string]any {
	object := map[string]any{}
	for _, layer := range layers {
		for name, property := range layer.At("properties").Members() {
			if value, is := s.value(append(path[:len(path):len(path)], name), property.Layers()); is {
				object[name] = value
			}
		}
	}
	if len(object) == 0 {
		object["kept"] = "as it came"
	}
	return object
}

// list has three entries, or one for each variant of a union.
func (s *sampler) list(path []string, layers []wire.Node) []any {
	var items wire.Node
	for _, layer := range layers {
		if found := layer.At("items"); found.Exists() {
			items = found
		}
	}
	path = append(path[:len(path):len(path)], contrary.Each)
	var list []any
	for _, layer := range items.Layers() {
		for _, variant := range layer.At("oneOf").Entries() {
			value, _ := s.value(path, variant.Layers())
			list = append(list, value)
		}
	}
	for range 3 - min(len(list), 3) {
		value, _ := s.value(path, items.Layers())
		list = append(list, value)
	}
	return list
}

// texts are what a format or a pattern makes of a text. %d is a number of its own.
var texts = map[string]string{
	"date-time": "2031-01-02T03:04:00Z",
	"date":      "2031-01-02",
	"uuid":      "7c9e6679-7425-40de-944b-%012d",
	"email":     "ann%d@example.com",
	"byte":      "+//+YWI=",
	"decimal":   "%d.5",

	`^[A-Z]{2}$`:          "DE",
	`^[A-Z0-9]+$`:         "EUR",
	`^\d{1,4}[smhd]$`:     "%dd",
	`^0x[0-9a-fA-F]{40}$`: "0x52908400098527886E0F7030069857D2E4169EE7",
	`^[a-z0-9_]+$`:        "not_found",
}

func (s *sampler) text(path []string, layers []wire.Node) string {
	s.made++
	for _, layer := range layers {
		if values := layer.At("enum").Texts(); len(values) > 0 {
			return values[0]
		}
	}
	for _, layer := range layers {
		if prefix := layer.At("x-id-prefix").Text(); prefix != "" {
			return fmt.Sprintf("%s%d", prefix, s.made)
		}
		for _, key := range []string{"format", "pattern"} {
			if form, known := texts[layer.At(key).Text()]; known {
				if strings.Contains(form, "%") {
					return fmt.Sprintf(form, s.made)
				}
				return form
			}
		}
	}
	name := path[len(path)-1]
	switch name {
	case "currency":
		return "EUR"
	case contrary.Each:
		name = "entry"
	}
	return fmt.Sprintf("%s%d", name, s.made)
}

// decode reads JSON and keeps the digits of numbers.
func decode(body []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

func encode(value any) []byte {
	written, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a tree that came from JSON has no JSON: %v", err))
	}
	return written
}

// pointer is the way from the root of a body to a value in it.
type pointer []string

func (p pointer) String() string {
	var text strings.Builder
	for _, step := range p {
		text.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return text.String()
}

func (p pointer) step(name string) pointer { return append(p[:len(p):len(p)], name) }

// within reports whether p is at or below q.
func (p pointer) within(q pointer) bool { return len(p) >= len(q) && slices.Equal(p[:len(q)], q) }

func readPointer(text string) pointer {
	var p pointer
	for step := range strings.SplitSeq(strings.TrimPrefix(text, "/"), "/") {
		p = append(p, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return p
}

// at is the value that a pointer leads to.
func at(value any, p pointer) (found any, there bool) {
	for _, step := range p {
		switch v := value.(type) {
		case map[string]any:
			if value, there = v[step]; !there {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// put gives a copy of a tree with another value at a pointer. keep false takes the value out. What holds the value has
// to be there.
func put(tree any, p pointer, value any, keep bool) any {
	if len(p) == 0 {
		return value
	}
	switch v := tree.(type) {
	case map[string]any:
		changed := maps.Clone(v)
		below, there := v[p[0]]
		switch {
		case len(p) > 1 && !there:
			return tree
		case len(p) > 1:
			changed[p[0]] = put(below, p[1:], value, keep)
		case keep:
			changed[p[0]] = value
		default:
			delete(changed, p[0])
		}
		return changed
	case []any:
		i, err := strconv.Atoi(p[0])
		if err != nil || i >= len(v) {
			return tree
		}
		changed := slices.Clone(v)
		if len(p) == 1 && !keep {
			return slices.Delete(changed, i, i+1)
		}
		changed[i] = put(v[i], p[1:], value, keep)
		return changed
	}
	return tree
}

// resolve finds the values that a site means in a body. A member that is not there is found where its object is, so
// that it can be put in.
func resolve(body any, site contrary.Site) []pointer {
	found := []pointer{nil}
	for depth, step := range append(slices.Clone(site.Path), "") {
		if words, on := site.Variants[depth]; on {
			found = slices.DeleteFunc(found, func(p pointer) bool { return !isVariant(body, p, words) })
		}
		if depth == len(site.Path) {
			break
		}
		var next []pointer
		for _, p := range found {
			here, _ := at(body, p)
			switch v := here.(type) {
			case map[string]any:
				if step != contrary.Each {
					next = append(next, p.step(step))
				}
			case []any:
				if step == contrary.Each {
					for i := range v {
						next = append(next, p.step(strconv.Itoa(i)))
					}
				}
			}
		}
		found = next
	}
	return found
}

// isVariant reports whether a value is the variant of a union that one of the words selects. The selector may be left
// out where it has a default.
func isVariant(body any, p pointer, words []string) bool {
	value, _ := at(body, p)
	object, is := value.(map[string]any)
	selector, given := object["accountType"].(string)
	return is && (!given || slices.Contains(words, selector))
}

// isEntry reports a pointer that ends at an entry of a list.
func isEntry(p pointer) bool {
	return len(p) > 0 && strings.Trim(p[len(p)-1], "0123456789") == ""
}

// tree is a value of the public API as JSON, without what is empty: a member that is zero and one that is not there are
// the same.
func tree(t *testing.T, value any) any {
	t.Helper()
	written, err := jsonv2.Marshal(value, jsonv1.DefaultOptionsV1(), jsonv2.WithMarshalers(jsonv2.MarshalToFunc(
		func(enc *jsontext.Encoder, s moneymovement.Secret) error {
			return enc.WriteToken(jsontext.String(s.Reveal()))
		},
	)))
	require.NoError(t, err)
	read, err := decode(written)
	require.NoError(t, err)
	return filled(read)
}

// filled drops what is empty. Entries of lists stay.
func filled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		memoryStore := map[string]any{}
		for name, member := range v {
			if member = filled(member); member != nil {
				memoryStore[name] = member
			}
		}
		if len(memoryStore) == 0 {
			return nil
		}
		return memoryStore
	case []any:
		if len(v) == 0 {
			return nil
		}
		memoryStore := make([]any, len(v))
		for i, entry := range v {
			memoryStore[i] = filled(entry)
		}
		return memoryStore
	case json.Number:
		if number, err := decimal.NewFromString(v.String()); err == nil && number.IsZero() {
			return nil
		}
		return v
	case bool:
		if !v {
			return nil
		}
	case string:
		if v == "" || v == "0" || v == "0001-01-01T00:00:00Z" || v == "0001-01-01" {
			return nil
		}
	}
	return value
}

// differences are the places at which two trees differ. A list that is shorter by one entry differs at the entry that
// is left out.
func differences(before, after any, here pointer) (found []pointer) {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	switch b := before.(type) {
	case map[string]any:
		a, is := after.(map[string]any)
		if !is {
			return []pointer{here}
		}
		names := slices.Sorted(maps.Keys(b))
		for name := range a {
			if _, there := b[name]; !there {
				names = append(names, name)
			}
		}
		for _, name := range names {
			found = append(found, differences(b[name], a[name], here.step(name))...)
		}
		return found
	case []any:
		a, is := after.([]any)
		switch {
		case is && len(a) == len(b):
			for i := range b {
				found = append(found, differences(b[i], a[i], here.step(strconv.Itoa(i)))...)
			}
			return found
		case is && len(a) == len(b)-1:
			left := 0
			for left < len(a) && sameValue(a[left], b[left]) {
				left++
			}
			found = append(found, here.step(strconv.Itoa(left)))
			for i := left; i < len(a); i++ {
				found = append(found, differences(b[i+1], a[i], here.step(strconv.Itoa(i+1)))...)
			}
			return found
		}
		return []pointer{here}
	}
	if sameValue(before, after) {
		return nil
	}
	return []pointer{here}
}

func sameValue(a, b any) bool { return reflect.DeepEqual(a, b) || sameScalar(a, b) }

// sameScalar reports numbers and times that are equal and written otherwise.
func sameScalar(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	one, another := fmt.Sprint(a), fmt.Sprint(b)
	if x, err := decimal.NewFromString(one); err == nil {
		if y, err := decimal.NewFromString(another); err == nil {
			return x.Equal(y)
		}
	}
	x, err := time.Parse(time.RFC3339, one)
	y, also := time.Parse(time.RFC3339, another)
	return err == nil && also == nil && x.Equal(y)
}

// shownPart is the member of a response that the SDK returns, if it does not return all of it: the list of a page, or
// the one thing in an envelope.
func shownPart(body, value any) (name string, is bool) {
	whole, _ := body.(map[string]any)
	if _, isList := value.([]any); isList && whole != nil {
		return contrary.PageList, true
	}
	object, _ := value.(map[string]any)
	for name := range whole {
		if _, same := object[name]; len(whole) == 1 && !same {
			return name, true
		}
	}
	return "", false
}

// inValue are the places of the body that the value shows.
func inValue(before reading, places []pointer) (shown []pointer) {
	body, _ := decode(before.response.Body)
	name, part := shownPart(body, before.value)
	if !part {
		return places
	}
	for _, p := range places {
		if len(p) > 0 && p[0] == name {
			shown = append(shown, p[1:])
		}
	}
	return shown
}

// renamed is where a value stands under its other name.
func renamed(p pointer) pointer { return p[:len(p)-1].step("other" + p[len(p)-1]) }

func joined(pointers []pointer) string {
	all := make([]string, len(pointers))
	for i, p := range pointers {
		all[i] = p.String()
	}
	return strings.Join(all, ", ")
}
