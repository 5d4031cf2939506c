package platform

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Steps run in the order of their times, and not before.
func TestScheduleRunsDueSteps(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	first, second, third := &payout{ID: "1", Due: at(30)}, &payout{ID: "2", Due: at(10)}, &payout{ID: "3", Due: at(20)}
	var s schedule
	for _, p := range []*payout{first, second, third} {
		s.add(p, p.Due)
	}
	run := func(seconds int) (requested, created []string) {
		s.run(at(seconds), func(p *payout) time.Time {
			requested = append(requested, p.ID)
			if at(seconds).Before(p.Due) {
				return p.Due
			}
			created = append(created, p.ID)
			if p == third && p.Due.Equal(at(20)) {
				p.Due = at(40)
				return p.Due
			}
			return time.Time{}
		})
		return requested, created
	}
	for _, c := range []struct {
		seconds     int
		asked, made []string
	}{
		{0, nil, nil}, {9, nil, nil}, {10, []string{"2"}, []string{"2"}}, {19, nil, nil},
		{30, []string{"3", "1"}, []string{"3", "1"}}, {39, nil, nil}, {40, []string{"3"}, []string{"3"}},
		{99, nil, nil},
	} {
		requested, created := run(c.seconds)
		assert.Equal(t, c.asked, requested, "after %d seconds", c.seconds)
		assert.Equal(t, c.made, created, "after %d seconds", c.seconds)
	}
	s.add(first, at(200))
	requested, _ := run(150)
	assert.Empty(t, requested)
}

// Steps with the same time run in the order in which they were added, also after a step and a reorder.
func TestScheduleKeepsOrderOfEqualTimes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var s schedule
	const many = 100
	for i := range many {
		s.add(&payout{FinishNumber: i}, start)
	}
	var created []int
	collect := func(p *payout) time.Time {
		created = append(created, p.FinishNumber)
		return start.Add(time.Second)
	}
	s.run(start, collect)
	s.run(start.Add(time.Second-1), collect)
	assert.Len(t, created, many)
	assert.IsIncreasing(t, created)

	created = nil
	s.reorder(func(a, b *payout) int { return b.FinishNumber - a.FinishNumber })
	s.run(start.Add(time.Second), func(p *payout) time.Time {
		collect(p)
		return time.Time{}
	})
	assert.Len(t, created, many)
	assert.IsDecreasing(t, created)
	s.run(start.Add(time.Hour), collect)
	assert.Len(t, created, many)
}

// Each payout status of the description has transitions here, unless it is final.
func TestPayoutTransitionsCoverEveryStatus(t *testing.T) {
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(location.Path)
	}
	described, err := loader.LoadFromURI(&url.URL{Path: "dapi.yaml"})
	require.NoError(t, err)
	statuses := described.Components.Schemas["PayoutStatus"].Value
	classes := statuses.Extensions["x-classes"].(map[string]any)
	require.NotEmpty(t, statuses.Enum)
	for _, status := range statuses.Enum {
		moves := payoutStates.targets(platformwire.PayoutStatus(status.(string)))
		assert.True(t, len(moves) > 0 || slices.Contains(classes[status.(string)].([]any), "final"),
			"%s: payoutStates says nothing of it", status)
	}
}
