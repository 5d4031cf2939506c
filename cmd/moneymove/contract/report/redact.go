package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Redacted returns the shape of a response: names and types. Of the values it shows only those that name a refusal. No
// other value is ever shown, because a response that contradicts the description can hold anything anywhere.
func Redacted(value any) string {
	var b strings.Builder
	writeShape(&b, "", value)
	return b.String()
}

// entriesShown limits how many entries of a list are written.
const entriesShown = 3

func writeShape(b *strings.Builder, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		b.WriteString("{")
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%q: ", key)
			writeShape(b, key, v[key])
		}
		b.WriteString("}")
	case []any:
		b.WriteString("[")
		for i, entry := range v[:min(len(v), entriesShown)] {
			if i > 0 {
				b.WriteString(", ")
			}
			writeShape(b, "", entry)
		}
		if more := len(v) - entriesShown; more > 0 {
			fmt.Fprintf(b, ", %d more", more)
		}
		b.WriteString("]")
	case string:
		if (name == "code" || name == "field") && isWord(v) {
			fmt.Fprintf(b, "%q", v)
			return
		}
		b.WriteString(kind(v))
	default:
		b.WriteString(kind(v))
	}
}

func isWord(v string) bool {
	return v != "" && len(v) <= 64 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.[]") == ""
}

// kind returns the kind of a value, and nothing of its content.
func kind(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("text of %d characters", utf8.RuneCountInString(v))
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case map[string]any:
		return "object"
	case []any:
		return fmt.Sprintf("list of %d", len(v))
	}
	return "unknown"
}

// sample shows a value that fits its description: a value of an enumeration, a whole number within a bound, or the form
// of any other value.
func sample(layers []wire.Node, value any) string {
	v, isText := value.(string)
	for _, layer := range layers {
		switch format := layer.At("format").Text(); {
		case !isText:
		case slices.Contains(layer.At("enum").Texts(), v):
			return fmt.Sprintf("%q", v)
		case layer.At("x-id-prefix").Text() != "" && strings.HasPrefix(v, layer.At("x-id-prefix").Text()):
			return fmt.Sprintf("%q and %d more characters", layer.At("x-id-prefix").Text(),
				len(v)-len(layer.At("x-id-prefix").Text()))
		case format != "":
			return fmt.Sprintf("%s of %d characters", format, utf8.RuneCountInString(v))
		}
	}
	return kind(value)
}
