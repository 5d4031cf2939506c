package signing

import (
	"crypto/sha256"
	"sync"
)

// mostSeen bounds the memory of [SeenApprovals] to about a megabyte. Approvals live for two minutes at most.
const mostSeen = 10_000

// SeenApprovals remembers the payloads of approvals, so that none of them is signed as a login challenge. Keep one
// for each developer key. The zero value is empty and ready to use; it holds the digests of the last 10,000.
type SeenApprovals struct {
	mu      sync.Mutex
	digests map[[sha256.Size]byte]struct{}
	order   [][sha256.Size]byte // a ring once it is full
	oldest  int
}

// Add remembers an approval's payload.
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
