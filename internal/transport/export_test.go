package transport

// Remembered is of how many windows the limiter keeps account.
func (l *LocalLimiter) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}
