package fault

import (
	"slices"
	"strings"
)

// base is the base path, which patterns may leave out like the description's paths.
const base = "/dapi/v1"

// Matches reports whether a pattern matches a path. Patterns are compared segment by segment, with or without the base
// path of the platform API.
func Matches(pattern, path string) bool { return covers(pattern, path, same) }

// covers is [Matches] with a function that compares one segment of the pattern with one of the path.
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

// same compares a segment with a segment of a request's path.
func same(want, got string) bool { return want == got || got != "" && isWildcard(want) }

// sameAsTemplate compares a segment with a segment of an operation's path, which may be a parameter.
func sameAsTemplate(want, got string) bool { return same(want, got) || want != "" && isWildcard(got) }

func isWildcard(segment string) bool {
	return segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}
