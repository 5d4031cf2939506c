package platform

// Records is how many records there are: whatever a caller can make the platform keep, counted one by one.
func (p *Platform) Records() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.records()
}

func (s *state) records() int {
	return len(s.holders) + len(s.contacts) +
		len(s.payouts) + len(s.approvals) + len(s.payins) + len(s.quoted) + len(s.deals) + s.actionApprovals + s.particulars +
		s.recorded + s.books.entries +
		s.bookings.size() + s.deposits.size() + s.moves.size() + s.completions.size() + s.agreements.size() + s.actions.size()
}
