package payments

import "time"

// Wake makes a processor that is resumed look for due work now, and not at its next poll. It is for engines that hear
// of work which another process has stored. It returns false if the processor is not resumed, or is stopped.
func (p *Processor) Wake() bool {
	r := p.runner
	r.mu.Lock()
	running := r.started && !r.stopped
	r.pollAt = time.Time{}
	r.mu.Unlock()
	if running {
		r.wakeUp()
	}
	return running
}
