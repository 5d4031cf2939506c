package transport

import (
	"net/http"
	"testing"
	"time"
)

// FuzzServiceClock checks, for the dates of any two responses, that the clock uses an offset that both of them have and
// no other, to the second.
func FuzzServiceClock(f *testing.F) {
	const at = "Sun, 01 Mar 2026 12:00:00 GMT"
	for _, dates := range [][2]string{
		{at, at}, {"Sun, 01 Mar 2026 12:10:00 GMT", "Sun, 01 Mar 2026 12:10:01 GMT"},
		{"Sun, 01 Mar 2026 12:10:00 GMT", at}, {"", ""}, {"soon", "0"},
		{"Mon, 01 Jan 0001 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"},
		{"Mon, 01 Mar 2117 12:00:00 GMT", "Mon, 01 Mar 2117 12:00:00 GMT"},
		{"Sunday, 01-Mar-26 12:10:00 GMT", "Sun Mar  1 12:10:00 2026"},
	} {
		f.Add(dates[0], dates[1])
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, first, second string) {
		var clock serviceClock
		clock.observe(http.Header{"Date": {first}}, now)
		if ahead := clock.offsets.Load().value().used; ahead != 0 {
			t.Fatalf("one answer of %q puts the clock %v ahead", first, ahead)
		}
		clock.observe(http.Header{"Date": {second}}, now)
		ahead := clock.offsets.Load().value().used
		if ahead == 0 {
			return
		}
		for _, text := range []string{first, second} {
			date, err := http.ParseTime(text)
			if off := date.Sub(now.Add(ahead)); err != nil || off.Abs() > dateTolerance {
				t.Fatalf("%q and %q put the clock %v ahead", first, second, ahead)
			}
		}
	})
}
