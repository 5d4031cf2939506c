package transport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Further checks the additional members of an object. A member for which the type has a field must be set in the field.
func (c *Check) Further(members map[string]any, named ...string) {
	for _, name := range named {
		if _, twice := members[name]; twice {
			c.Refuse(name, "duplicate", "has its own field: set that field, and not the additional member")
		}
	}
}

// ExactlyOne checks that exactly one of the fields is set. set says which of them are.
func (c *Check) ExactlyOne(set map[string]bool) {
	count := 0
	for _, is := range set {
		if is {
			count++
		}
	}
	if count != 1 {
		names := strings.Join(slices.Sorted(maps.Keys(set)), "|")
		c.Refuse(names, "exactly_one_of", fmt.Sprintf("exclude each other: set exactly one of them, not %d", count))
	}
}
