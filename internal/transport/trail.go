package transport

import "hash/maphash"

// Trail remembers the steps of a walk over a list, such as its cursors, by their hashes. When it is full, it starts
// again empty. So it notices every loop that is shorter than its size.
type Trail struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

const longestTrail = 1 << 16

// NewTrail starts a trail with the first step of a walk.
func NewTrail(first string) *Trail {
	t := &Trail{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	t.Again(first)
	return t
}

// Again adds a step, and reports whether the trail has it already.
func (t *Trail) Again(step string) bool {
	if len(t.seen) == longestTrail {
		clear(t.seen)
	}
	before := len(t.seen)
	t.seen[maphash.String(t.seed, step)] = struct{}{}
	return len(t.seen) == before
}
