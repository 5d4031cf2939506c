package fault

import (
	"slices"
	"strings"
)

// base is what patterns may leave out, as the description's paths do.
const base = "/dapi/v1"

// Matches tells whether a pattern covers a path. Patterns are matched segment by
// segment, with the base of the platform API or without.
func Matches(pattern, path string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return matches(pattern, path) || ok && matches(pattern, rest)
}

func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if last := len(want) - 1; want[last] == "**" && len(got) > last {
		want, got = want[:last], got[:last]
	}
	return slices.EqualFunc(want, got, func(want, got string) bool {
		return want == got || got != "" && isWildcard(want)
	})
}

func isWildcard(segment string) bool {
	return segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}
