package transport

import "hash/maphash"

// Trail remembers what a walk over a list has come by, such as its cursors, by a hash of each. When it is full, it
// begins anew, so that a circle that is shorter than that is noticed however long the walk was before.
type Trail struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

const longestTrail = 1 << 16

// NewTrail starts a trail at the first step of a walk.
func NewTrail(first string) *Trail {
	t := &Trail{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	t.Again(first)
	return t
}

// Again takes a step down, and reports one that is known.
func (t *Trail) Again(step string) bool {
	if len(t.seen) == longestTrail {
		clear(t.seen)
	}
	before := len(t.seen)
	t.seen[maphash.String(t.seed, step)] = struct{}{}
	return len(t.seen) == before
}
