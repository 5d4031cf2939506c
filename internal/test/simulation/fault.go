package simulation

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with one request.
type Fault struct {
	Kind   Kind
	Status int           // of a refusal
	Slug   string        // of a refusal; "" for a page that is not the service's
	After  string        // Retry-After of a refusal, "" for none
	Wait   time.Duration // of a slow request or response, and until a copy arrives
}

// Kind is a kind of fault.
type Kind string

// The kinds of faults. "Before" means that the host does not see the request, "after" that it carries it out.
const (
	LostBefore    Kind = "lost before"
	LostAfter     Kind = "lost after"
	CopyNow       Kind = "copied at once"
	CopyLater     Kind = "copied later"
	RefusedBefore Kind = "refused before"
	RefusedAfter  Kind = "refused after"
	Truncated     Kind = "truncated"
	Foreign       Kind = "foreign page"
	Redirected    Kind = "redirected"
	TokenExpired  Kind = "token expired"
	SlowRequest   Kind = "slow request"
	SlowResponse  Kind = "slow response"
)

// String returns the fault as the trace shows it.
func (f Fault) String() string {
	if f.Kind == "" {
		return ""
	}
	text := string(f.Kind)
	if f.Status != 0 {
		text += " " + strconv.Itoa(f.Status) + " " + f.Slug
	}
	if f.After != "" {
		text += " Retry-After " + f.After
	}
	if f.Wait != 0 {
		text += " " + f.Wait.String()
	}
	return "[" + text + "]"
}

// refusals are what a refused request gets. A refusal before the request is carried out may be any. Afterwards, only a
// failure of the service or of something in front of it can hide what was done: a 4xx in the service's own words is
// about the request, which was then not carried out.
var (
	refusalsBefore = []Fault{
		{Status: http.StatusInternalServerError, Slug: "internal_error"},
		{Status: http.StatusBadGateway, Slug: "provider_unavailable"},
		{Status: http.StatusServiceUnavailable, Slug: "database_unavailable"},
		{Status: http.StatusServiceUnavailable, Slug: "provider_unavailable", After: "7"},
		{Status: http.StatusGatewayTimeout},
		{Status: http.StatusRequestTimeout},
		{Status: http.StatusForbidden, Slug: "forbidden"},
		{Status: http.StatusForbidden},
		{Status: http.StatusConflict, Slug: "conflict"},
		{Status: http.StatusNotFound, Slug: "not_found"},
		{Status: http.StatusUnauthorized, Slug: "unauthenticated"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "0"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "3"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "61"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "300"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "date"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "soon"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "99999999999999999999"},
		{Status: http.StatusTooManyRequests, After: "5"},
	}
	refusalsAfter = []Fault{
		{Status: http.StatusInternalServerError, Slug: "internal_error"},
		{Status: http.StatusBadGateway, Slug: "provider_unavailable"},
		{Status: http.StatusServiceUnavailable, Slug: "database_unavailable"},
		{Status: http.StatusBadGateway},
		{Status: http.StatusGatewayTimeout},
		{Status: http.StatusRequestTimeout},
		{Status: http.StatusForbidden},
		{Status: http.StatusNotFound},
	}
	foreign = []Fault{
		{Status: http.StatusOK, Slug: "page"}, {Status: http.StatusOK, Slug: "empty"},
		{Status: http.StatusOK, Slug: "braces"}, {Status: http.StatusCreated, Slug: "list"},
		{Status: http.StatusOK, Slug: "other"}, {Status: http.StatusNoContent, Slug: "empty"},
	}
	redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect}
)

// kinds has each kind as often as it should occur among the faults.
var kinds = []Kind{
	LostBefore, LostBefore, LostAfter, LostAfter, LostAfter, CopyNow, CopyLater, CopyLater, RefusedBefore,
	RefusedBefore, RefusedBefore, RefusedAfter, RefusedAfter, Truncated, Foreign, Redirected, TokenExpired,
	SlowRequest, SlowResponse,
}

// fault draws what goes wrong with a request: usually nothing. rate is the part of all requests that something goes
// wrong with.
func (s Seed) fault(rate float64, name string) Fault {
	random := s.Draw("fault", name)
	if random.Float64() >= rate {
		return Fault{}
	}
	f := Fault{Kind: kinds[random.IntN(len(kinds))]}
	switch f.Kind {
	case RefusedBefore:
		chosen := refusalsBefore[random.IntN(len(refusalsBefore))]
		chosen.Kind = f.Kind
		return chosen
	case RefusedAfter:
		chosen := refusalsAfter[random.IntN(len(refusalsAfter))]
		chosen.Kind = f.Kind
		return chosen
	case Foreign:
		chosen := foreign[random.IntN(len(foreign))]
		chosen.Kind = f.Kind
		return chosen
	case Redirected:
		f.Status = redirects[random.IntN(len(redirects))]
	case CopyLater:
		f.Wait = between(random, time.Second, 12*time.Hour)
	case SlowRequest, SlowResponse:
		f.Wait = between(random, 100*time.Millisecond, 100*time.Second)
	case LostBefore, LostAfter, CopyNow, Truncated, TokenExpired:
	}
	return f
}

// lost is the error of a connection that broke.
type lost struct{ kind Kind }

func (l *lost) Error() string { return fmt.Sprintf("the simulated connection broke: %s", l.kind) }
