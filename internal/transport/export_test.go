package transport

// Remembered is how many nonces are known to be handed out.
func (n *Nonces) Remembered() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.used)
}

// Remembered is of how many windows the limiter keeps account.
func (l *LocalLimiter) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}
