package contrary_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

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
