package signing

// Len is how many approvals are remembered.
func (s *SeenApprovals) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.digests)
}
