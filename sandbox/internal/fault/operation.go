package fault

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Operation is one operation of the service. Its path includes the base path, such as /dapi/v1/payouts/{payoutId}.
type Operation struct{ Method, Path string }

func (o Operation) String() string { return o.Method + " " + o.Path }

// Operations are the operations of every surface. Faults happen to requests for them.
type Operations []Operation

// UnknownOperation refuses a method and a path that no operation has. A fault for them would never happen, so its test
// would test nothing.
type UnknownOperation struct {
	Method, Path string   // as given
	Near         []string // the most similar operations, the most similar first
}

func (e *UnknownOperation) Error() string {
	return fmt.Sprintf("no operation of the service is %q; did you mean %s?",
		strings.TrimSpace(e.Method+" "+e.Path), strings.Join(e.Near, " or "))
}

// Check returns an [*UnknownOperation] if no operation has this method ("" for any) and a path that the pattern
// matches.
func (all Operations) Check(method, pattern string) error {
	if slices.ContainsFunc(all, func(o Operation) bool {
		return (method == "" || o.Method == method) && covers(pattern, o.Path, sameAsTemplate)
	}) {
		return nil
	}
	return &UnknownOperation{Method: method, Path: pattern, Near: all.similar(method, pattern)}
}

// similar returns the operations most similar to the method and the pattern: at most three, and none that is much less
// similar than the first.
func (all Operations) similar(method, pattern string) []string {
	const most, apart = 3, 3
	type candidate struct {
		operation Operation
		distance  int
	}
	candidates := make([]candidate, len(all))
	for i, o := range all {
		distance := editDistance(nameless(pattern), nameless(o.Path))
		if rest, ok := strings.CutPrefix(o.Path, base); ok {
			distance = min(distance, editDistance(nameless(pattern), nameless(rest)))
		}
		if method != "" && o.Method != method {
			distance++
		}
		candidates[i] = candidate{o, distance}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var near []string
	for _, c := range candidates[:min(most, len(candidates))] {
		if c.distance <= candidates[0].distance+apart {
			near = append(near, c.operation.String())
		}
	}
	return near
}

// nameless removes the names of path parameters, because callers may use other names.
func nameless(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if isWildcard(segment) {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

// editDistance returns the Levenshtein distance: how many bytes must be inserted, deleted or replaced.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

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
