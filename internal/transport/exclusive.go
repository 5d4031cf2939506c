package transport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ExactlyOne checks fields of which exactly one has to be set; set says which are.
func (c *Check) ExactlyOne(set map[string]bool) {
	count := 0
	for _, is := range set {
		if is {
			count++
		}
	}
	if count != 1 {
		names := strings.Join(slices.Sorted(maps.Keys(set)), "|")
		c.Refuse(names, "exactly_one_of", fmt.Sprintf("exactly one of them must be set, not %d", count))
	}
}
