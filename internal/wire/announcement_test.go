package wire

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

func announcing(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestDeprecationIsRead(t *testing.T) {
	since := time.Date(2023, 6, 30, 23, 59, 59, 0, time.UTC)
	sunset := time.Date(2024, 6, 30, 23, 59, 59, 0, time.UTC)
	const date = "Sun, 30 Jun 2024 23:59:59 GMT"
	type deprecation = moneymovement.Deprecation
	for name, c := range map[string]struct {
		header http.Header
		want   *deprecation
	}{
		"nothing":  {announcing("Link", `<https://a.example>; rel="deprecation"`), nil},
		"RFC 9745": {announcing("Deprecation", "@1688169599"), &deprecation{Since: since}},
		"with a sunset": {announcing("Deprecation", "@1688169599", "Sunset", date),
			&deprecation{Since: since, Sunset: sunset}},
		"only a sunset": {announcing("Sunset", date), &deprecation{Sunset: sunset}},
		"a draft's date": {announcing("Deprecation", "Fri, 30 Jun 2023 23:59:59 GMT"),
			&deprecation{Since: since}},
		"a draft's true":       {announcing("Deprecation", "true"), &deprecation{}},
		"false":                {announcing("Deprecation", "false"), nil},
		"false and a sunset":   {announcing("Deprecation", "?0", "Sunset", date), &deprecation{Sunset: sunset}},
		"with parameters":      {announcing("Deprecation", "@1688169599;foo=1"), &deprecation{Since: since}},
		"false, a parameter":   {announcing("Deprecation", "?0 ;foo=1"), nil},
		"an unreadable date":   {announcing("Deprecation", "@1e9"), &deprecation{}},
		"before time began":    {announcing("Deprecation", "@-1"), &deprecation{}},
		"after time":           {announcing("Deprecation", "@999999999999999"), &deprecation{}},
		"an unreadable sunset": {announcing("Sunset", "soon"), nil},
		"empty":                {announcing("Deprecation", "", "Sunset", ""), nil},
		"a link": {announcing("Deprecation", "@1688169599", "Link",
			`<https://a.example/next>; rel=next, <https://a.example/old?a=1,2;3>; type="text/html" ;rel="Sunset deprecation"`),
			&deprecation{Since: since, Link: "https://a.example/old?a=1,2;3"}},
		"a link of a sunset": {announcing("Deprecation", "@1688169599", "Link", `<https://a.example/s>; rel=sunset`),
			&deprecation{Since: since, Link: "https://a.example/s"}},
		"the better link, of two lines": {announcing("Sunset", date, "Link", `<https://a.example/s>; rel=sunset`,
			"Link", `<https://a.example/d>; rel=deprecation`), &deprecation{Sunset: sunset, Link: "https://a.example/d"}},
		"a link of another scheme": {announcing("Sunset", date, "Link", `<javascript:alert(1)>; rel=sunset`),
			&deprecation{Sunset: sunset}},
		"a link with a password": {announcing("Sunset", date, "Link", `<https://a:b@c.example>; rel=sunset`),
			&deprecation{Sunset: sunset}},
		"a broken link": {announcing("Sunset", date, "Link", `<https://a.example; rel=sunset`), &deprecation{Sunset: sunset}},
		"the first rel counts": {announcing("Sunset", date, "Link", `<https://a.example>; rel=next; rel=sunset`),
			&deprecation{Sunset: sunset}},
	} {
		assert.Equal(t, c.want, DeprecationOf(c.header), name)
		assert.Equal(t, c.header.Get("Deprecation")+c.header.Get("Sunset") != "" || name == "empty",
			Announces(c.header), name)
	}
}

func TestRateLimitsAreRead(t *testing.T) {
	type limit = moneymovement.RateLimit
	for name, c := range map[string]struct {
		header http.Header
		want   []limit
	}{
		"nothing": {announcing("X-RateLimit-Limit", "100"), nil},
		"what is left": {announcing("RateLimit", `"default";r=50;t=30`),
			[]limit{{Policy: "default", Remaining: 50, Reset: 30 * time.Second, Quota: -1}}},
		"a policy": {announcing("RateLimit-Policy", `"burst";q=100;w=60, "daily";q=1000;w=86400;qu="requests"`),
			[]limit{{Policy: "burst", Remaining: -1, Quota: 100, Window: time.Minute},
				{Policy: "daily", Remaining: -1, Quota: 1000, Window: 24 * time.Hour}}},
		"both, with tokens, in two lines": {announcing("RateLimit-Policy", "reads;q=600;w=60", "RateLimit",
			`writes ; r=0;pk=:cGs=:`, "RateLimit", `reads;r=599`),
			[]limit{{Policy: "reads", Remaining: 599, Quota: 600, Window: time.Minute},
				{Policy: "writes", Remaining: 0, Quota: -1}}},
		"a policy that is named twice": {announcing("RateLimit", `a;r=50, b;r=0, a;r=0, b;r=1`, "RateLimit", "a"),
			[]limit{{Policy: "a", Remaining: 0, Quota: -1}, {Policy: "b", Remaining: 0, Quota: -1}}},
		"an escaped name": {announcing("RateLimit", `"a\"b,;\\c";r=1`),
			[]limit{{Policy: `a"b,;\c`, Remaining: 1, Quota: -1}}},
		"numbers that cannot be read": {announcing("RateLimit", `"a";r=-1;t=x, "b";r=1e3, "c";r=1;t=9999999999999999999`),
			[]limit{{Policy: "c", Remaining: 1, Quota: -1}}},
		"a time that is too long": {announcing("RateLimit", `"a";r=1;t=99999999999999`),
			[]limit{{Policy: "a", Remaining: 1, Quota: -1, Reset: (1 << 33) * time.Second}}},
		"an older draft":     {announcing("RateLimit", "limit=100, remaining=50, reset=5"), nil},
		"an open quote":      {announcing("RateLimit", `"a";r=1, "b;r=2`), []limit{{Policy: "a", Remaining: 1, Quota: -1}}},
		"control characters": {announcing("RateLimit", "\"a\x01\";r=1"), nil},
		"a long name":        {announcing("RateLimit", `"`+strings.Repeat("a", 101)+`";r=1`), nil},
	} {
		assert.Equal(t, c.want, RateLimitsOf(c.header), name)
	}
	many := strings.Repeat(`"a";r=1,`, 10_000)
	assert.Len(t, RateLimitsOf(announcing("RateLimit", many)), 1)
	var different strings.Builder
	for i := range 100 {
		different.WriteString(`"` + string(rune('0'+i)) + `x";r=1,`)
	}
	assert.LessOrEqual(t, len(RateLimitsOf(announcing("RateLimit", different.String(), "RateLimit-Policy",
		`p;q=1,`+different.String()))), maxListed)
}

// A response without the headers costs nothing.
func TestReadingNoAnnouncementNeedsNoMemory(t *testing.T) {
	h := announcing("Content-Type", "application/json", "Link", `<https://a.example>; rel=next`)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if Announces(h) || DeprecationOf(h) != nil || RateLimitsOf(h) != nil {
			t.Fatal("it announces nothing")
		}
	}))
}

// FuzzAnnouncement: whatever the headers hold, what is read is bounded, prints, and can be written in every encoding.
func FuzzAnnouncement(f *testing.F) {
	f.Add("@1688169599", "Sun, 30 Jun 2024 23:59:59 GMT", `<https://a.example>; rel="deprecation"; a`, `"a";r=1;t=2`,
		`b;q=3;w=4`)
	f.Add("true", "", `<>;rel=sunset,<https://a.example/"\>;rel`, `"\`, `;;`)
	f.Fuzz(func(t *testing.T, deprecation, sunset, link, limit, policy string) {
		h := http.Header{"Deprecation": {deprecation}, "Sunset": {sunset}, "Link": {link, deprecation},
			"Ratelimit": {limit, policy}, "Ratelimit-Policy": {policy}}
		if d := DeprecationOf(h); d != nil {
			for _, at := range []time.Time{d.Since, d.Sunset} {
				if _, err := at.MarshalJSON(); err != nil {
					t.Fatal(err)
				}
			}
			if u, err := url.Parse(d.Link); err != nil || len(d.Link) > maxLink || !isPrintable(d.Link) ||
				d.Link != "" && u.Host == "" {
				t.Fatalf("%q", d.Link)
			}
		}
		limits := RateLimitsOf(h)
		seen := map[string]bool{}
		for _, l := range limits {
			if seen[l.Policy] || len(l.Policy) > maxPolicy || !isPrintable(l.Policy) ||
				l.Quota < -1 || l.Remaining < -1 || l.Quota == -1 && l.Remaining == -1 || l.Window < 0 || l.Reset < 0 {
				t.Fatalf("%+v", l)
			}
			seen[l.Policy] = true
		}
		if len(limits) > maxListed {
			t.Fatal(len(limits))
		}
	})
}
