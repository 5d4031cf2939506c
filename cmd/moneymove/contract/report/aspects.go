package report

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// aspect is one demand of a schema on a value, and says whether the value meets it.
type aspect struct {
	name  string // keyword, as in the assumptions
	layer int    // the layer that demands it
	ok    bool
	want  string // in words
}

// aspectsOf lists the demands of the layers on a value that is not null. If the value has another type than a layer
// demands, only that is listed for the layer: such a value has no length.
func aspectsOf(layers []wire.Node, value any) []aspect {
	var all []aspect
	for i, layer := range layers {
		check := func(name string, ok bool, want string) { all = append(all, aspect{name, i, ok, want}) }
		if described := layer.At("type").Text(); described != "" {
			is := isType(described, value)
			check("type", is, described)
			if !is {
				continue
			}
		}
		switch v := value.(type) {
		case string:
			textAspects(layer, v, check)
		case json.Number:
			numberAspects(layer, v, check)
		case []any:
			if least, is := layer.At("minItems").Int(); is {
				check("minItems", len(v) >= least, fmt.Sprintf("at least %d", least))
			}
			if most, is := layer.At("maxItems").Int(); is {
				check("maxItems", len(v) <= most, fmt.Sprintf("at most %d", most))
			}
		}
		if layer.At("x-positive").True() {
			check("positive", !strings.HasPrefix(fmt.Sprint(value), "-") && strings.ContainsAny(fmt.Sprint(value),
				"123456789"), "more than zero")
		}
	}
	return all
}

func isType(described string, value any) bool {
	switch v := value.(type) {
	case string:
		return described == "string"
	case bool:
		return described == "boolean"
	case json.Number:
		return described == "number" || described == "integer" && !strings.ContainsAny(v.String(), ".eE")
	case map[string]any:
		return described == "object"
	case []any:
		return described == "array"
	}
	return false
}

func textAspects(layer wire.Node, v string, check func(name string, ok bool, want string)) {
	if format := layer.At("format").Text(); format != "" {
		check("format", isFormat(format, v), format)
	}
	if pattern := layer.At("pattern").Text(); pattern != "" {
		check("pattern", matches(pattern, v), pattern)
	}
	if prefix := layer.At("x-id-prefix").Text(); assumes(layer, "x-id-prefix") {
		check("x-id-prefix", strings.HasPrefix(v, prefix), prefix+" before it")
	}
	if values := layer.At("enum").Texts(); len(values) > 0 {
		check("enum", slices.Contains(values, v), "one of "+strings.Join(values, ", "))
	}
	if least, is := layer.At("minLength").Int(); is {
		check("minLength", utf8.RuneCountInString(v) >= least, fmt.Sprintf("at least %d characters", least))
	}
	if most, is := layer.At("maxLength").Int(); is {
		check("maxLength", utf8.RuneCountInString(v) <= most, fmt.Sprintf("at most %d characters", most))
	}
}

// assumes reports that a mark covers one aspect of a schema. A stated prefix is part of the pattern, or may be missing.
func assumes(layer wire.Node, aspect string) bool {
	return slices.ContainsFunc(layer.Marks(), func(mark *wire.Assumption) bool { return mark.Aspect == aspect })
}

func numberAspects(layer wire.Node, v json.Number, check func(name string, ok bool, want string)) {
	number, err := v.Float64() // bounds are small whole numbers, so a float compares exactly
	if least, is := layer.At("minimum").Int(); is {
		check("minimum", err == nil && number >= float64(least), fmt.Sprintf("at least %d", least))
	}
	if most, is := layer.At("maximum").Int(); is {
		check("maximum", err == nil && number <= float64(most), fmt.Sprintf("at most %d", most))
	}
}

func isFormat(format, v string) bool {
	var err error
	switch format {
	case "date-time":
		_, err = time.Parse(time.RFC3339, v)
	case "date":
		_, err = time.Parse(time.DateOnly, v)
	case "uuid":
		_, err = uuid.Parse(v)
	case "email":
		_, err = mail.ParseAddress(v)
	case "byte":
		_, err = base64.StdEncoding.Strict().DecodeString(v)
	case "uri":
		_, err = url.ParseRequestURI(v)
	case "decimal":
		return matches(decimalPattern, v)
	}
	return err == nil
}

const (
	// decimalPattern is the description's pattern of a decimal in a string. RE2 does not support its look-ahead.
	decimalPattern = `^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`
	decimalRE2     = `^[+-]?(?:\d+\.?\d*|\.\d+)$` // accepts the same strings
)

var compiled sync.Map // pattern to *regexp.Regexp

// matches reports whether a text matches a pattern. It is false for a pattern that does not compile. The tests of the
// description compile all patterns.
func matches(pattern, v string) bool {
	found, known := compiled.Load(pattern)
	if !known {
		expression, err := compile(pattern)
		if err != nil {
			return false
		}
		found, _ = compiled.LoadOrStore(pattern, expression)
	}
	expression, is := found.(*regexp.Regexp)
	return is && expression.MatchString(v)
}

func compile(pattern string) (*regexp.Regexp, error) {
	if pattern == decimalPattern {
		pattern = decimalRE2
	}
	return regexp.Compile(pattern)
}

// ofText converts the text of a parameter to the type of its schema.
func ofText(layers []wire.Node, v string) any {
	for _, layer := range layers {
		switch layer.At("type").Text() {
		case "integer", "number":
			return json.Number(v)
		case "boolean":
			if b, err := strconv.ParseBool(v); err == nil {
				return b
			}
		case "array":
			var items []any
			for item := range strings.SplitSeq(v, ",") {
				items = append(items, item)
			}
			return items
		}
	}
	return v
}

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
