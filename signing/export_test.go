package signing

// Len is how many approvals are remembered.
func (s *SeenApprovals) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.digests)
}

// CheckEncryption says whether a file's parameters are within bounds, and derives nothing.
var CheckEncryption = checkEncryption

// MaxScryptWork is the bound on a file's work.
const MaxScryptWork = maxScryptWork
