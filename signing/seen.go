package signing

import (
	"crypto/sha256"
	"sync"
)

// mostSeen limits the memory of [SeenApprovals] to about a megabyte. An approval is valid for two minutes at most.
const mostSeen = 10_000

// SeenApprovals is a set of approval payloads, which [SignChallenge] refuses to sign as a login challenge. Use one set
// for each developer key. The zero value is an empty set. It keeps the digests of the last 10,000 payloads.
type SeenApprovals struct {
	mu      sync.Mutex
	digests map[[sha256.Size]byte]struct{}
	order   [][sha256.Size]byte // becomes a ring when it is full
	oldest  int
}

// Add adds the payload of an approval.
func (s *SeenApprovals) Add(payload []byte) {
	digest := sha256.Sum256(payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.digests[digest]; known {
		return
	}
	if s.digests == nil {
		s.digests = make(map[[sha256.Size]byte]struct{})
	}
	s.digests[digest] = struct{}{}
	if len(s.order) < mostSeen {
		s.order = append(s.order, digest)
		return
	}
	delete(s.digests, s.order[s.oldest])
	s.order[s.oldest] = digest
	s.oldest = (s.oldest + 1) % mostSeen
}

func (s *SeenApprovals) has(payload []byte) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.digests[sha256.Sum256(payload)]
	return known
}
