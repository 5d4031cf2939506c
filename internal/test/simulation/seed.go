package simulation

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Seed decides everything that is left to chance in a run.
type Seed uint64

// Draw returns a source of random numbers for one purpose. The same seed and the same parts give the same numbers, in
// whatever order the draws are made.
func (s Seed) Draw(parts ...string) *rand.Rand {
	sum := fnv.New128a()
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(s))
	sum.Write(number[:])
	for _, part := range parts {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	digest := sum.Sum(nil)
	return rand.New(rand.NewPCG( //gosec:disable G404 -- a run must be repeatable
		binary.LittleEndian.Uint64(digest[:8]), binary.LittleEndian.Uint64(digest[8:])))
}

// between returns a random time from least to less than most.
func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}
