package transport_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

func TestServiceNowFollowsTheServicesDate(t *testing.T) {
	stamp := func(ahead time.Duration) func(time.Time) string {
		return func(now time.Time) string { return dateOf(now.Add(ahead)) }
	}
	for name, tc := range map[string]struct {
		date func(now time.Time) string
		want time.Duration
	}{
		"the same":       {stamp(0), 0},
		"a second apart": {stamp(-time.Second), 0},
		"five behind":    {stamp(-5 * time.Minute), -5 * time.Minute},
		"an hour ahead":  {stamp(time.Hour), time.Hour},
		"no date":        {func(time.Time) string { return "" }, 0},
		"no time":        {func(time.Time) string { return "yesterday" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				client := newClient(t, host, through(script(
					answers(200, oneThing, "Date", tc.date(now)), answers(200, oneThing, "Date", tc.date(now)))))
				assert.Equal(t, now, client.ServiceNow(), "before the first answer")
				for range 2 {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					require.NoError(t, err)
				}
				assert.Equal(t, now.Add(tc.want), client.ServiceNow())
			})
		})
	}
}

func dateOf(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// A response whose Date contradicts earlier ones changes the time only when the next response agrees with it.
func TestServiceNowNeedsTwoAnswersThatAgree(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for name, tc := range map[string]struct {
		dates []time.Duration // ahead of this machine
		want  time.Duration
		last  time.Duration
	}{
		"as far as a clock is off": {[]time.Duration{century, century}, century, century},
		"further":                  {[]time.Duration{century + time.Second, century + time.Second}, 0, 0},
		"two seconds, once":        {[]time.Duration{2 * time.Second}, 0, 2 * time.Second},
		"one answer":               {[]time.Duration{time.Hour}, 0, time.Hour},
		"two that agree":           {[]time.Duration{time.Hour, time.Hour}, time.Hour, time.Hour},
		"two that agree by a second": {[]time.Duration{time.Hour, time.Hour + time.Second}, time.Hour + time.Second,
			time.Hour + time.Second},
		"two that do not agree": {[]time.Duration{time.Hour, time.Hour + 2*time.Second}, 0,
			time.Hour + 2*time.Second},
		"one wrong among right ones": {[]time.Duration{0, -time.Hour, 0}, 0, 0},
		"wrong now and then":         {[]time.Duration{time.Hour, 0, time.Hour, 0, time.Hour}, 0, time.Hour},
		"one wrong after an offset":  {[]time.Duration{time.Minute, time.Minute, 0}, time.Minute, 0},
		"one wrong between an offset": {[]time.Duration{time.Minute, time.Minute, 0, time.Minute}, time.Minute,
			time.Minute},
		"a clock that was set right": {[]time.Duration{time.Minute, time.Minute, 0, 0}, 0, 0},
		"nearly the offset in use": {[]time.Duration{time.Minute, time.Minute, time.Minute + time.Second},
			time.Minute, time.Minute},
		"right again, but a second": {[]time.Duration{time.Minute, time.Minute, 0, time.Second}, 0, 0},
		"nearly right again":        {[]time.Duration{time.Minute, time.Minute, time.Second, 0}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				var steps []step
				for _, ahead := range tc.dates {
					steps = append(steps, answers(200, oneThing, "Date", dateOf(now.Add(ahead))))
				}
				client := newClient(t, host, through(script(steps...)))
				for range tc.dates {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					require.NoError(t, err)
				}
				assert.Equal(t, now.Add(tc.want), client.ServiceNow())
				inUse, byLastAnswer := client.ServiceTimes()
				assert.Equal(t, now.Add(tc.want), inUse)
				assert.Equal(t, now.Add(tc.last), byLastAnswer)
			})
		})
	}
}

// A Date that stays the same while this machine's clock goes on shows another difference each time.
func TestServiceNowFollowsADateThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client := newClient(t, host, through(script(answers(200, oneThing, "Date", dateOf(began)))))
		for _, want := range []struct {
			after               time.Duration
			inUse, byLastAnswer time.Duration
		}{
			{0, 0, 0},
			{5 * time.Minute, 0, -5 * time.Minute},
			{5 * time.Minute, 0, -10 * time.Minute},
			{time.Second, -10*time.Minute - time.Second, -10*time.Minute - time.Second},
		} {
			time.Sleep(want.after)
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
			inUse, byLastAnswer := client.ServiceTimes()
			assert.Equal(t, want.inUse, time.Until(inUse))
			assert.Equal(t, want.byLastAnswer, time.Until(byLastAnswer))
		}
	})
}

func TestServiceNowIsSafeForConcurrentUse(t *testing.T) {
	var steps []step
	for range 16 {
		steps = append(steps, answers(200, oneThing, "Date", dateOf(time.Now().Add(time.Hour))))
	}
	client := newClient(t, host, through(script(steps...)))
	var callers sync.WaitGroup
	for range steps {
		callers.Go(func() {
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			assert.NoError(t, err)
			assert.False(t, client.ServiceNow().IsZero())
		})
	}
	callers.Wait()
	assert.WithinDuration(t, time.Now().Add(time.Hour), client.ServiceNow(), 5*time.Second)
}
