package signing

// Len is how many approvals are remembered.
func (s *SeenApprovals) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.digests)
}

// CheckEncryption says whether a file's parameters are within bounds, and derives nothing.
func CheckEncryption(der []byte) error {
	_, err := readEncryption(der)
	return err
}

// MaxScryptWork is the bound on a file's work.
const MaxScryptWork = maxScryptWork
