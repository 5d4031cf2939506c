package nonce

// Remembered is how many nonces are known to be handed out.
func (s *Source) Remembered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.used)
}
