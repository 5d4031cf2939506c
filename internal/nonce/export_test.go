package nonce

// Remembered returns how many nonces are stored.
func (s *Source) Remembered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.used)
}
