package ratewindow

// Remembered returns how many windows a limiter stores.
func Remembered(l *Limiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queues)
}
