package payments

import (
	"context"
	"time"
)

// Prepare is the function [Prepare] with what this processor knows: it also refuses a payment that the services cannot
// make, and stores what the tracer returns. It is for engines that insert the record themselves.
func (p *Processor) Prepare(ctx context.Context, submission Submission) (Record, error) {
	if err := p.ready(ctx, "Prepare"); err != nil {
		return Record{}, err
	}
	return p.prepare(ctx, submission)
}

// Wake makes a processor that is resumed look for due work now, and not at its next poll. It is for engines that hear
// of work which another process has stored. It returns false if the processor is not resumed, or is stopped.
func (p *Processor) Wake() bool {
	if p == nil || p.store == nil {
		return false
	}
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
