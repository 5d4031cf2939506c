package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// editFor returns the edit of a schema that allows a value which the schema refuses now.
func editFor(a aspect, layer wire.Node, value any) string {
	demand := func() string { return fmt.Sprintf("`%s: %s`", a.name, layer.At(a.name).Text()) }
	switch a.name {
	case "type":
		if value == nil {
			return "make it `nullable: true`"
		}
		return typeFor(value)
	case "enum":
		if word, is := value.(string); is && isWord(word) {
			return fmt.Sprintf("add `%s` to `enum`", word)
		}
		return "add the value to `enum`"
	case "minLength", "minItems", "minimum":
		return "lower " + demand()
	case "maxLength", "maxItems", "maximum":
		return "raise " + demand()
	case "pattern":
		return "widen `pattern`, or take it out"
	case "format", "x-id-prefix":
		return "take out " + demand()
	case "positive":
		return "take out `x-positive`"
	case "discriminator":
		return "correct `discriminator`: its `propertyName`, or add to its `mapping`"
	case "mediaType":
		return "correct the media type in `content`"
	}
	return ""
}

// typeFor returns the type of a value, in the words of a schema.
func typeFor(value any) string {
	switch v := value.(type) {
	case string:
		return "`type: string`"
	case bool:
		return "`type: boolean`"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "`type: number`"
		}
		return "`type: integer`, or `number`"
	case map[string]any:
		return "`type: object`"
	case []any:
		return "`type: array`"
	}
	return "`nullable: true`"
}

// Edit returns the edit of the description that makes a contradicted assumption true. For other assumptions it returns
// "".
func (a AssumptionSeen) Edit() string {
	switch {
	case a.Verdict != Contradicted || a.Evidence == nil:
		return ""
	case a.Evidence.Edit == "":
		return "write it as the service has it"
	}
	return a.Evidence.Edit
}
