package contrary_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
