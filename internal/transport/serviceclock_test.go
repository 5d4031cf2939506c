package transport_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

func TestServiceNowFollowsTheServicesDate(t *testing.T) {
	stamp := func(ahead time.Duration) func(time.Time) string {
		return func(now time.Time) string { return now.Add(ahead).UTC().Format(http.TimeFormat) }
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
				client := newClient(t, host, through(script(answers(200, oneThing, "Date", tc.date(now)))))
				assert.Equal(t, now, client.ServiceNow(), "before the first answer")
				_, err := send(t.Context(), client, &readThing, transport.Call{})
				require.NoError(t, err)
				assert.Equal(t, now.Add(tc.want), client.ServiceNow())
			})
		})
	}
}
