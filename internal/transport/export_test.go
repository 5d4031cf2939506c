package transport

// Remembered returns how many windows the limiter stores.
func (l *LocalLimiter) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}
