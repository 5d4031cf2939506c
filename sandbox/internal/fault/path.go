package fault

import (
	"slices"
	"strings"
)

// base is what patterns may leave out, as the description's paths do.
const base = "/dapi/v1"

// Matches reports whether a pattern covers a path. Patterns are matched segment by segment, with the base of the
// platform API or without.
func Matches(pattern, path string) bool { return covers(pattern, path, same) }

// covers is [Matches] with a comparison of one segment of the pattern with one of the path.
func covers(pattern, path string, same func(want, got string) bool) bool {
	rest, ok := strings.CutPrefix(path, base)
	return matches(pattern, path, same) || ok && matches(pattern, rest, same)
}

func matches(pattern, path string, same func(want, got string) bool) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if last := len(want) - 1; want[last] == "**" && len(got) > last {
		want, got = want[:last], got[:last]
	}
	return slices.EqualFunc(want, got, same)
}

// same compares with a segment of a request's path.
func same(want, got string) bool { return want == got || got != "" && isWildcard(want) }

// sameAsTemplate compares with a segment of an operation's path, which may be a parameter.
func sameAsTemplate(want, got string) bool { return same(want, got) || want != "" && isWildcard(got) }

func isWildcard(segment string) bool {
	return segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}
