package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

func TestTrailDetectsALoop(t *testing.T) {
	walked := NewTrail("first")
	assert.False(t, walked.Again("second"))
	assert.True(t, walked.Again("first"))
}

// A walk of any length needs limited memory, and a loop at its end is noticed.
func TestTheTrailOfALongWalkIsBounded(t *testing.T) {
	const most = 65_536
	walked := NewTrail("")
	for i := range 5 * most {
		if walked.Again(strconv.Itoa(i)) {
			t.Fatalf("step %d is new", i)
		}
		if len(walked.seen) > most {
			t.Fatalf("%d steps are remembered", len(walked.seen))
		}
	}
	noticed := false
	for i := range 4 * most { // a circle of half the trail's length
		noticed = noticed || walked.Again("circle "+strconv.Itoa(i%(most/2)))
	}
	assert.True(t, noticed)
}

// Callers that spend and earn at the same time cannot overdraw the budget, and cannot fill it beyond its size.
func TestBudgetIsExactForManyCallers(t *testing.T) {
	b := newBudget()
	var all sync.WaitGroup
	var paid atomic.Int64
	for range 64 {
		all.Go(func() {
			for range 100 {
				if b.spend() {
					paid.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got := paid.Load(); got != budgetSize/retryCost {
		t.Errorf("%d retries were paid, not %d", got, budgetSize/retryCost)
	}
	for range 64 {
		all.Go(func() {
			for range 100 {
				b.earn()
			}
		})
	}
	all.Wait()
	if got := b.tokens.Load(); got != budgetSize {
		t.Errorf("the budget has %d tokens, not %d", got, budgetSize)
	}
}

// observe shows the clock a response whose service is so far ahead.
func observe(clock *serviceClock, now time.Time, ahead time.Duration) {
	clock.observe(http.Header{"Date": {now.Add(ahead).UTC().Format(http.TimeFormat)}}, now)
}

// The clock does what it does one response after the other with two plain variables.
func TestServiceClockMatchesItsModel(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	near := func(a, b time.Duration) bool { return (a - b).Abs() < dateTolerance }
	rapid.Check(t, func(t *rapid.T) {
		var clock serviceClock
		var used, last time.Duration
		for range rapid.IntRange(1, 20).Draw(t, "responses") {
			ahead := time.Duration(rapid.IntRange(-9, 9).Draw(t, "ahead")) * time.Second
			observe(&clock, now, ahead)
			if near(ahead, 0) {
				ahead = 0
			}
			switch {
			case near(ahead, used):
				last = used
			case near(ahead, last):
				used, last = ahead, ahead
			default:
				last = ahead
			}
			if got := clock.offsets.Load().value(); got != (offsets{used, last}) {
				t.Fatalf("after %v: %v, not %v and %v", ahead, got, used, last)
			}
		}
	})
}

// Responses arrive on many connections at once. Wrong ones, of which no two agree, never set the clock.
func TestServiceClockOfManyResponsesAtOnce(t *testing.T) {
	const right = time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var clock serviceClock
	var all sync.WaitGroup
	for caller := range 32 {
		all.Go(func() {
			for i := range 100 {
				wrong := time.Duration(1+caller*100+i) * time.Minute * 7
				observe(&clock, now, -wrong)
				observe(&clock, now, right)
				if used := clock.offsets.Load().value().used; used != 0 && used != right {
					t.Errorf("the clock is %v ahead", used)
				}
			}
		})
	}
	all.Wait()
	observe(&clock, now, right)
	observe(&clock, now, right)
	if got := clock.offsets.Load().value(); got != (offsets{right, right}) {
		t.Errorf("the clock is %v", got)
	}
}

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
			t.Fatalf("one response of %q puts the clock %v ahead", first, ahead)
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

// FuzzStream checks that a stream is opened for a complete response of its type and for no other. The stream has the
// body's bytes up to its limit. Then it ends, or fails with *errors.UnexpectedResponse if it is incomplete or too long.
func FuzzStream(f *testing.F) {
	f.Add(200, "application/pdf", int64(8), []byte("%PDF-1.7"), false, uint16(1000), uint16(512))
	f.Add(200, "application/pdf; charset=binary", int64(-1), []byte("%PDF-1.7"), false, uint16(8), uint16(3))
	f.Add(200, "Application/PDF", int64(-1), []byte("%PDF-1.7"), false, uint16(7), uint16(1))
	f.Add(200, "application/pdf", int64(100), []byte("%PDF"), true, uint16(1000), uint16(512))
	f.Add(200, "application/pdf", int64(maxStream+1), []byte("%PDF"), false, uint16(1000), uint16(512))
	f.Add(200, "text/html", int64(-1), []byte("<html>"), false, uint16(1000), uint16(512))
	f.Add(200, "", int64(-1), []byte{}, false, uint16(0), uint16(0))
	f.Add(404, "application/json", int64(-1), []byte(`{"error":{"code":"not_found"}}`), false, uint16(1000),
		uint16(512))
	op := Operation{ID: "RenderThing", Method: http.MethodGet, Path: "/things"}
	f.Fuzz(func(t *testing.T, status int, contentType string, announced int64, body []byte, breaks bool, bound,
		step uint16) {
		served := &servedBody{body: body, breaks: breaks}
		call := NewRequest(&op, "", Call{})
		wanted := &streaming{mediaType: "application/pdf"}
		opened := wanted.open(call, &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, ContentLength: announced,
			Body: served,
		})
		isPDF := strings.EqualFold(strings.TrimSpace(strings.SplitN(contentType, ";", 2)[0]), "application/pdf")
		if opened != (wanted.opened != nil) || opened && (status != http.StatusOK || !isPDF || announced > maxStream) {
			t.Fatalf("%d %q of %d bytes is opened: %v", status, contentType, announced, opened)
		}
		if !opened {
			call.response = response{status: status, header: http.Header{}}
			requireUnexpected(t, wanted.end(call), status)
			return
		}
		if err := wanted.end(call); err != nil {
			t.Fatal(err)
		}
		stream := wanted.opened
		if stream.left != maxStream || stream.Length != announced {
			t.Fatalf("%d bytes are left of %d", stream.left, stream.Length)
		}
		stream.left = int64(bound) // 64 MiB would take long to fill
		var got []byte
		var err error
		for p := make([]byte, int(step)+1); err == nil; {
			var n int
			n, err = stream.Read(p)
			got = append(got, p[:n]...)
			if n > len(p) || len(got) > int(bound) {
				t.Fatalf("%d bytes after a bound of %d", len(got), bound)
			}
		}
		if whole := body[:min(len(body), int(bound))]; !bytes.Equal(got, whole) {
			t.Fatalf("%q became %q", whole, got)
		}
		if len(body) <= int(bound) && !breaks {
			if err != io.EOF { //nolint:errorlint // readers compare with it
				t.Fatalf("a whole body ends in %v", err)
			}
		} else {
			requireUnexpected(t, err, http.StatusOK)
		}
		if stream.Close(); !served.closed {
			t.Fatal("the body is not closed")
		}
	})
}

func requireUnexpected(t *testing.T, err error, status int) {
	unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err)
	if !ok || unexpected.Operation != "RenderThing" || unexpected.Status != status {
		t.Fatalf("%v, of status "+strconv.Itoa(status), err)
	}
	if text := err.Error(); len(text) > 4096 || strings.ContainsAny(text, "\r\n") {
		t.Fatalf("%q is no bounded line", text)
	}
}

// servedBody gives its bytes, and ends or breaks off.
type servedBody struct {
	body           []byte
	breaks, closed bool
}

func (s *servedBody) Read(p []byte) (int, error) {
	n := copy(p, s.body)
	s.body = s.body[n:]
	switch {
	case n > 0 || len(p) == 0:
		return n, nil
	case s.breaks:
		return 0, io.ErrUnexpectedEOF
	}
	return 0, io.EOF
}

func (s *servedBody) Close() error {
	s.closed = true
	return nil
}

// The result of a call is not that of the error which an InDoubt or a NotDelivered wraps.
func TestCallResults(t *testing.T) {
	forbidden := &errors.Forbidden{Refusal: errors.Refusal{Code: errors.CodeForbidden, Status: http.StatusForbidden}}
	for name, tc := range map[string]struct {
		err    error
		result moneymovement.CallResult
		code   errors.Code
	}{
		"nothing":   {nil, moneymovement.CallSucceeded, ""},
		"a refusal": {forbidden, moneymovement.CallRefused, errors.CodeForbidden},
		"already done": {&errors.AlreadyFunded{Refusal: errors.Refusal{Code: errors.CodeAlreadyFunded,
			Status: http.StatusConflict}}, moneymovement.CallSucceeded, errors.CodeAlreadyFunded},
		"a doubt":        {&errors.InDoubt{Cause: forbidden}, moneymovement.CallInDoubt, ""},
		"an early doubt": {&errors.InDoubt{Cause: &errors.InvalidInput{}}, moneymovement.CallInDoubt, ""},
		"wrong input":    {&errors.InvalidInput{}, moneymovement.CallInvalid, ""},
		"no delivery":    {&errors.NotDelivered{Err: forbidden}, moneymovement.CallNotDelivered, ""},
		"many refusals": {&errors.DetailErrors{Refusal: errors.Refusal{Status: http.StatusUnprocessableEntity}},
			moneymovement.CallRefused, ""},
		"a page": {&errors.UnexpectedResponse{Status: http.StatusBadGateway}, moneymovement.CallUnexpected,
			""},
		"a foreign error": {errors.New("broken"), moneymovement.CallUnexpected, ""},
	} {
		result, code := resultOf(tc.err)
		assert.Equal(t, tc.result, result, name)
		assert.Equal(t, tc.code, code, name)
	}
}

// A secret is looked for by its beginning. Escapes can hide any character of it.
func TestMayEcho(t *testing.T) {
	long := strings.Repeat("secret", 10)
	for body, may := range map[string]bool{
		`{"a":"` + long + `"}`: true, `{"a":"` + long[:32] + `"}`: true, `{"a":"` + long[:31] + `"}`: false,
		`{"a":"\u0073"}`: true, `{"a":"other"}`: false,
	} {
		assert.Equal(t, may, mayEcho([]byte(body), []string{"another one", long}), body)
		assert.Equal(t, may, mayEcho([]byte(body), []string{long}), body)
		assert.False(t, mayEcho([]byte(body), nil), body)
	}
}
