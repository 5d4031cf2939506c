package transport_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
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
					responds(200, oneThing, "Date", tc.date(now)), responds(200, oneThing, "Date", tc.date(now)))))
				assert.Equal(t, now, client.ServiceNow(), "before the first response")
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
func TestServiceNowNeedsTwoResponsesThatAgree(t *testing.T) {
	const day, century = 24 * time.Hour, 100 * 365 * 24 * time.Hour
	for name, tc := range map[string]struct {
		dates []time.Duration // ahead of this machine
		want  time.Duration
		last  time.Duration
	}{
		"as far as a clock may be off": {[]time.Duration{10 * day, 10 * day}, 10 * day, 10 * day},
		"further":                      {[]time.Duration{10*day + time.Second, 10*day + time.Second}, 0, 0},
		"further, after an offset": {[]time.Duration{time.Hour, time.Hour, 11 * day, 11 * day}, time.Hour,
			time.Hour},
		"further than a duration reaches": {[]time.Duration{-2 * century, -2 * century}, 0, 0},
		"further, and back":               {[]time.Duration{11 * day, time.Hour, time.Hour}, time.Hour, time.Hour},
		"two seconds, once":               {[]time.Duration{2 * time.Second}, 0, 2 * time.Second},
		"one response":                    {[]time.Duration{time.Hour}, 0, time.Hour},
		"two that agree":                  {[]time.Duration{time.Hour, time.Hour}, time.Hour, time.Hour},
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
					steps = append(steps, responds(200, oneThing, "Date", dateOf(now.Add(ahead))))
				}
				client := newClient(t, host, through(script(steps...)))
				for range tc.dates {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					require.NoError(t, err)
				}
				assert.Equal(t, now.Add(tc.want), client.ServiceNow())
				inUse, byLastResponse := client.ServiceTimes()
				assert.Equal(t, now.Add(tc.want), inUse)
				assert.Equal(t, now.Add(tc.last), byLastResponse)
			})
		})
	}
}

// A Date that stays the same while this machine's clock goes on shows another difference each time.
func TestServiceNowFollowsADateThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client := newClient(t, host, through(script(responds(200, oneThing, "Date", dateOf(began)))))
		for _, want := range []struct {
			after                 time.Duration
			inUse, byLastResponse time.Duration
		}{
			{0, 0, 0},
			{5 * time.Minute, 0, -5 * time.Minute},
			{5 * time.Minute, 0, -10 * time.Minute},
			{time.Second, -10*time.Minute - time.Second, -10*time.Minute - time.Second},
		} {
			time.Sleep(want.after)
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
			inUse, byLastResponse := client.ServiceTimes()
			assert.Equal(t, want.inUse, time.Until(inUse))
			assert.Equal(t, want.byLastResponse, time.Until(byLastResponse))
		}
	})
}

func TestServiceNowIsSafeForConcurrentUse(t *testing.T) {
	var steps []step
	for range 16 {
		steps = append(steps, responds(200, oneThing, "Date", dateOf(time.Now().Add(time.Hour))))
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

// A Date that is farther away than allowed is reported and changes no time.
func TestClocksThatDifferMoreThanAllowed(t *testing.T) {
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		allowed time.Duration // 0 for the default
		ahead   time.Duration
		differs bool
	}{
		"ten days":               {0, 10 * day, false},
		"ten days and more":      {0, 10*day + time.Second, true},
		"ten days behind":        {0, -10*day - time.Second, true},
		"ninety years":           {0, 90 * 365 * day, true},
		"two hundred years":      {0, 200 * 365 * day, true},
		"a month that may be":    {31 * day, 30 * day, false},
		"more than may be":       {31 * day, 32 * day, true},
		"an hour that may be":    {time.Hour, time.Hour, false},
		"an hour that may not":   {time.Minute, time.Hour, true},
		"a century that may be":  {200 * 365 * day, 99 * 365 * day, false},
		"no difference, no room": {time.Nanosecond, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				client := newClient(t, host, func(c *transport.Config) {
					through(script(responds(200, oneThing, "Date", dateOf(now.Add(tc.ahead))),
						responds(200, oneThing, "Date", dateOf(now.Add(tc.ahead)))))(c)
					if tc.allowed != 0 {
						c.ClockDifference = tc.allowed
					}
				})
				for range 2 {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					require.NoError(t, err)
				}
				here, service, _, differs := client.ClockDiffers()
				assert.Equal(t, tc.differs, differs)
				assert.Equal(t, now, here)
				if differs {
					assert.Equal(t, now.Add(min(tc.ahead, 100*365*day)), service)
					assert.Equal(t, now, client.ServiceNow())
				}
			})
		})
	}
}

// The clocks are compared in the log once in the life of a client, and only if they differ by minutes.
func TestClocksThatDifferAreLoggedOnce(t *testing.T) {
	for ahead, warnings := range map[time.Duration]int{
		5 * time.Minute: 0, 6 * time.Minute: 1, -6 * time.Minute: 1, 90 * 365 * 24 * time.Hour: 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			now := time.Now()
			client := newClient(t, host, func(c *transport.Config) {
				through(script(responds(200, oneThing, "Date", dateOf(now.Add(ahead))),
					responds(200, oneThing, "Date", dateOf(now.Add(ahead)))))(c)
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			for range 2 {
				_, err := send(t.Context(), client, &readThing, transport.Call{})
				require.NoError(t, err)
			}
			assert.Equal(t, warnings, strings.Count(log.String(), "level=WARN"), "%v: %s", ahead, &log)
			if warnings > 0 {
				const format = "2006-01-02T15:04:05.000Z07:00"
				assert.Contains(t, log.String(), fmt.Sprintf(" service=%s here=%s aheadMs=%d\n",
					now.Add(ahead).Format(format), now.Format(format), ahead.Milliseconds()))
			}
		})
	}
}
