package wire

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// The headers in which a service announces something about the calls to come, in the form of http.Header.
const (
	deprecationHeader = "Deprecation"
	sunsetHeader      = "Sunset"
	rateLimitHeader   = "Ratelimit"
	ratePolicyHeader  = "Ratelimit-Policy"
)

// maxAnnouncement limits what is read of one such header, and maxListed its entries.
const (
	maxAnnouncement = 8 << 10
	maxListed       = 16
	maxLink         = 2 << 10
	maxPolicy       = 100
)

// Announces reports whether a response has one of the headers. It needs no memory.
func Announces(h http.Header) bool {
	return len(h[deprecationHeader])+len(h[sunsetHeader])+len(h[rateLimitHeader])+len(h[ratePolicyHeader]) > 0
}

// DeprecationOf returns what a response says about the end of its operation, or nil. A value that cannot be read counts
// as a deprecation without a date: what the service means is clear, and its date is not.
func DeprecationOf(h http.Header) *moneymovement.Deprecation {
	if len(h[deprecationHeader])+len(h[sunsetHeader]) == 0 {
		return nil
	}
	stated, _, _ := strings.Cut(h.Get(deprecationHeader), ";") // after which parameters may follow
	stated = strings.TrimSpace(stated)
	sunset, err := http.ParseTime(strings.TrimSpace(h.Get(sunsetHeader)))
	if err != nil || !plausible(sunset) {
		sunset = time.Time{}
	}
	switch stated {
	case "", "?0", "false":
		if sunset.IsZero() {
			return nil
		}
		stated = ""
	}
	return &moneymovement.Deprecation{Since: sinceOf(stated), Sunset: sunset, Link: deprecationLink(h)}
}

// sinceOf reads the date of a Deprecation: the Unix time of RFC 9745, such as @1688169599, or the HTTP date of its
// drafts.
func sinceOf(stated string) time.Time {
	seconds, found := strings.CutPrefix(stated, "@")
	if n, err := strconv.ParseInt(seconds, 10, 64); found && err == nil {
		if since := time.Unix(n, 0).UTC(); plausible(since) {
			return since
		}
	}
	if since, err := http.ParseTime(stated); err == nil && plausible(since) {
		return since
	}
	return time.Time{}
}

// plausible reports a time that every encoding can write.
func plausible(t time.Time) bool { return t.Year() >= 1970 && t.Year() <= 9999 }

// deprecationLink returns the target of the first Link (RFC 8288) with the relation deprecation, or else sunset. A
// target that is not an http address is left out: it is shown to people, who click on it.
func deprecationLink(h http.Header) string {
	found := map[string]string{}
	list := listOf(h["Link"])
	for range maxListed {
		if !list.take('<') {
			break
		}
		target, closed := list.until('>')
		if !closed {
			break
		}
		for name, value := range list.parameters() {
			if name != "rel" {
				continue
			}
			for _, relation := range strings.Fields(strings.ToLower(value)) {
				if _, before := found[relation]; !before && showable(target) {
					found[relation] = target
				}
			}
		}
		if !list.next() {
			break
		}
	}
	if link, ok := found["deprecation"]; ok {
		return link
	}
	return found["sunset"]
}

func showable(target string) bool {
	u, err := url.Parse(target)
	return err == nil && len(target) <= maxLink && isPrintable(target) &&
		(u.Scheme == "https" || u.Scheme == "http") && u.User == nil && u.Host != ""
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// RateLimitsOf returns the rate windows that a response names, each policy once. If the response names one twice, the
// least that is left counts. It stops at what it cannot read.
func RateLimitsOf(h http.Header) []moneymovement.RateLimit {
	if len(h[rateLimitHeader])+len(h[ratePolicyHeader]) == 0 {
		return nil
	}
	var limits []moneymovement.RateLimit
	limitOf := func(policy string) *moneymovement.RateLimit {
		for i := range limits {
			if limits[i].Policy == policy {
				return &limits[i]
			}
		}
		if len(limits) == maxListed {
			return new(moneymovement.RateLimit)
		}
		limits = append(limits, moneymovement.RateLimit{Policy: policy, Remaining: -1, Quota: -1})
		return &limits[len(limits)-1]
	}
	for _, values := range [...][]string{h[ratePolicyHeader], h[rateLimitHeader]} {
		list := listOf(values)
		for range maxListed {
			policy, ok := list.item()
			if !ok || len(policy) > maxPolicy {
				break
			}
			parameters := list.parameters()
			quota, remaining := numberOf(parameters["q"]), numberOf(parameters["r"])
			if quota >= 0 || remaining >= 0 {
				limit := limitOf(policy)
				limit.Quota = max(limit.Quota, quota)
				if limit.Remaining < 0 || remaining >= 0 && remaining < limit.Remaining {
					limit.Remaining = remaining
				}
				limit.Window = max(limit.Window, seconds(numberOf(parameters["w"])))
				limit.Reset = max(limit.Reset, seconds(numberOf(parameters["t"])))
			}
			if !list.next() {
				break
			}
		}
	}
	return limits
}

// numberOf reads a number of at most 15 digits, as structured fields have it. It returns -1 for anything else.
func numberOf(text string) int64 {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n < 1e15 {
		return n
	}
	return -1
}

// seconds returns a time that is not negative and does not overflow.
func seconds(n int64) time.Duration { return time.Duration(min(max(n, 0), 1<<33)) * time.Second }

// fieldList reads a header whose entries have parameters: the list of a structured field (RFC 9651), as far as rate
// limits need it, and Link (RFC 8288), which has the same form after its target.
type fieldList struct{ rest string }

func listOf(values []string) *fieldList {
	joined := strings.Join(values, ",")
	return &fieldList{joined[:min(len(joined), maxAnnouncement)]}
}

func (l *fieldList) skipBlanks() { l.rest = strings.TrimLeft(l.rest, " \t") }

// take skips blanks, and then a character if it is the next one.
func (l *fieldList) take(c byte) bool {
	l.skipBlanks()
	if l.rest == "" || l.rest[0] != c {
		return false
	}
	l.rest = l.rest[1:]
	return true
}

// until returns what is before a character, and skips both.
func (l *fieldList) until(c byte) (before string, found bool) {
	before, l.rest, found = strings.Cut(l.rest, string(c))
	return before, found
}

// next goes to the next entry.
func (l *fieldList) next() bool { return l.take(',') }

// item reads a token, a quoted text, or bytes, which are not decoded.
func (l *fieldList) item() (string, bool) {
	switch {
	case l.take('"'):
		return l.quoted()
	case l.take(':'):
		return l.until(':')
	}
	end := strings.IndexAny(l.rest, ` ,;="`+"\t")
	if end < 0 {
		end = len(l.rest)
	}
	token := l.rest[:end]
	l.rest = l.rest[end:]
	return token, token != "" && isPrintable(token)
}

// quoted reads the rest of a quoted text, in which a backslash stands before a quote or a backslash.
func (l *fieldList) quoted() (string, bool) {
	var text strings.Builder
	for i := 0; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '"':
			l.rest = l.rest[i+1:]
			return text.String(), isPrintable(text.String())
		case c == '\\' && i+1 < len(l.rest):
			i++
			text.WriteByte(l.rest[i])
		default:
			text.WriteByte(c)
		}
	}
	l.rest = ""
	return "", false
}

// parameters reads the parameters of an entry. A name that is given twice has its first value, as RFC 8288 says for
// rel. It stops at what it cannot read.
func (l *fieldList) parameters() map[string]string {
	found := map[string]string{}
	for l.take(';') {
		name, ok := l.item()
		if !ok {
			break
		}
		value := ""
		if l.take('=') {
			if value, ok = l.item(); !ok {
				break
			}
		}
		if _, before := found[strings.ToLower(name)]; !before {
			found[strings.ToLower(name)] = value
		}
	}
	return found
}
