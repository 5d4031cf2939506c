package platform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The steps of payouts are made in the order in which the payouts were added, and nobody is asked before.
func TestStepsAreMadeWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	first, second, third := &payout{ID: "1", Due: at(30)}, &payout{ID: "2", Due: at(10)}, &payout{ID: "3", Due: at(20)}
	var s steps
	for _, p := range []*payout{first, second, third} {
		s.add(p, p.Due)
	}
	run := func(seconds int) (asked, made []string) {
		s.run(at(seconds), func(p *payout) time.Time {
			asked = append(asked, p.ID)
			if at(seconds).Before(p.Due) {
				return p.Due
			}
			made = append(made, p.ID)
			if p == third && p.Due.Equal(at(20)) {
				p.Due = at(40)
				return p.Due
			}
			return time.Time{}
		})
		return asked, made
	}
	for _, c := range []struct {
		seconds     int
		asked, made []string
	}{
		{0, nil, nil}, {9, nil, nil}, {10, []string{"1", "2", "3"}, []string{"2"}}, {19, nil, nil},
		{30, []string{"1", "3"}, []string{"1", "3"}}, {39, nil, nil}, {40, []string{"3"}, []string{"3"}}, {99, nil, nil},
	} {
		asked, made := run(c.seconds)
		assert.Equal(t, c.asked, asked, "after %d seconds", c.seconds)
		assert.Equal(t, c.made, made, "after %d seconds", c.seconds)
	}
	s.add(first, at(200))
	asked, _ := run(150)
	assert.Empty(t, asked)
}
