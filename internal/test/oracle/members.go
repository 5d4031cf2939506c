package oracle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// members are the members of a JSON object in the order of their names, with a star in the place of each value that
// two runs differ in.
func members(message []byte) string {
	var object map[string]any
	if json.Unmarshal(message, &object) != nil {
		return "no object"
	}
	return text(object)
}

func text(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			part := name + "=*"
			if name != "nonce" {
				part = name + "=" + text(v[name])
			}
			parts = append(parts, part)
		}
		return "{" + strings.Join(parts, " ") + "}"
	case string:
		if !strings.HasPrefix(v, "0x") {
			v = differs.ReplaceAllString(v, "${1}*")
		}
		return v
	}
	return fmt.Sprint(value)
}

// differs matches ids, which mostly begin with what they are of, and times. An address is neither.
var differs = regexp.MustCompile(`\b([a-z]+[_-])?[0-9A-Za-z]{20,}|^\d{4}-\d\d-\d\dT\S*`)
