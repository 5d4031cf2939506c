package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

var bookPayout = Operation{
	ID: "BookPayout", Method: "POST", Path: "/payouts", Repeat: RepeatKey, Owner: "payoutId",
	Terms: []wire.Term{{Name: "amount", Format: wire.TermDecimal}},
}

func keyed(key string) *Request {
	return NewRequest(&bookPayout, "cl_1", Keyed(key))
}

// asking is a body that asks for an amount.
func asking(amount string) []byte { return []byte(`{"amount":"` + amount + `"}`) }

// booked is an answer.
type booked struct {
	ID string `json:"id"`
}

func TestTermsOfAKey(t *testing.T) {
	refused := &errors.NotFound{Refusal: errors.Refusal{Code: errors.CodeNotFound, Status: 404}}
	lost := &errors.InDoubt{CallInfo: errors.CallInfo{IdempotencyKey: "k"}}
	for name, test := range map[string]struct {
		outcome error
		free    bool // for other terms afterwards
	}{
		"carried out":     {nil, false},
		"outcome unknown": {lost, false},
		"lost, then refused": {&errors.InDoubt{
			CallInfo: errors.CallInfo{IdempotencyKey: "k"}, Cause: &errors.Forbidden{
				Refusal: errors.Refusal{Code: errors.CodeForbidden, Status: 403},
			},
		}, false},
		"lost, then a proxy's refusal": {&errors.InDoubt{CallInfo: errors.CallInfo{IdempotencyKey: "k"},
			Cause: &errors.UnexpectedResponse{Status: 403}}, false},
		"refused":         {refused, true},
		"not delivered":   {&errors.NotDelivered{}, true},
		"a foreign error": {fmt.Errorf("no type of ours"), false},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewKeys()
			over, err := m.claim(keyed("k"), asking("25"))
			require.NoError(t, err)
			_, err = m.claim(keyed("k"), asking("24"))
			require.Error(t, err, "while the first is under way")
			over(new(booked), test.outcome)
			_, err = m.claim(keyed("k"), asking("24"))
			assert.Equal(t, test.free, err == nil)
		})
	}
}

func TestTermsOfARefusedRepeatStayWithTheFirst(t *testing.T) {
	m := NewKeys()
	over, err := m.claim(keyed("k"), asking("25"))
	require.NoError(t, err)
	over(new(booked), nil)
	over, err = m.claim(keyed("k"), asking("25"))
	require.NoError(t, err)
	over(new(booked), &errors.NotDelivered{})
	_, err = m.claim(keyed("k"), asking("24"))
	assert.Error(t, err)
}

// The latest keys are remembered, and no more, so that the memory of a program does not grow for years.
func TestTheLatestKeysAreRemembered(t *testing.T) {
	m := NewKeys()
	claim := func(i int, amount string) error {
		over, err := m.claim(keyed(fmt.Sprint(i)), asking(amount))
		if err == nil {
			over(new(booked), nil)
		}
		return err
	}
	const keys = 2*maxPlain + 5_000
	for i := range keys {
		require.NoError(t, claim(i, "25"))
	}
	assert.Equal(t, 20_000, len(m.known)) //nolint:testifylint // a map of that size is not to be printed
	assert.Equal(t, maxPlain, m.plain.Len())
	require.Error(t, claim(keys-maxPlain, "24"), "the oldest that is remembered")
	assert.NoError(t, claim(keys-maxPlain-1, "24"), "the youngest that is forgotten")
}

func TestKeysThatNothingCameOfAreNotRemembered(t *testing.T) {
	m := NewKeys()
	for i := range 100 {
		over, err := m.claim(keyed(fmt.Sprint(i)), asking("25"))
		require.NoError(t, err)
		over(nil, &errors.NotDelivered{})
	}
	assert.Empty(t, m.known)
	assert.Zero(t, m.plain.Len())
}

// A body of usual length is kept, because it is compared quickly. Of a longer one, and of one with a secret, only
// digests are kept.
func TestNoSecretIsKeptWithAKey(t *testing.T) {
	telling := bookPayout
	telling.Tells = true
	for name, tc := range map[string]struct {
		op     *Operation
		length int
		kept   bool
	}{
		"usual": {&bookPayout, 100, true}, "the longest": {&bookPayout, 224, true}, "longer": {&bookPayout, 225, false},
		"with a secret": {&telling, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewKeys()
			r := NewRequest(tc.op, "cl_1", Keyed("k"))
			bodyOf := func(amount string) []byte {
				body := string(asking(amount))
				return []byte(body[:len(body)-1] + strings.Repeat(" ", tc.length-len(body)) + "}")
			}
			over, err := m.claim(r, bodyOf("25"))
			require.NoError(t, err)
			over(new(booked), nil)
			known := m.Get(r.keyScope())
			assert.Equal(t, tc.kept, strings.Contains(string(known.body[:]), "amount"))
			assert.Equal(t, tc.kept, known.asked == nil)
			_, err = m.claim(r, bodyOf("24"))
			require.Error(t, err)
			_, err = m.claim(r, asking("25.0"))
			assert.NoError(t, err)
		})
	}
}

// A key that was refused, corrected and then carried out counts from its last use, and not from its first.
func TestTermsAreForgottenOldestFirst(t *testing.T) {
	m := NewKeys()
	claim := func(key string, outcome error) {
		over, err := m.claim(keyed(key), asking("25"))
		require.NoError(t, err)
		over(new(booked), outcome)
	}
	claim("corrected", &errors.NotDelivered{})
	for i := range maxPlain - 1 {
		claim(fmt.Sprint(i), nil)
	}
	claim("corrected", nil)
	claim("one more", nil)
	_, err := m.claim(keyed("corrected"), asking("24"))
	assert.Error(t, err)
}

// A key that is repeated often pushes out no other key.
func TestARepeatedKeyIsRememberedOnce(t *testing.T) {
	m := NewKeys()
	claim := func(key string) {
		over, err := m.claim(keyed(key), asking("25"))
		require.NoError(t, err)
		over(new(booked), nil)
	}
	claim("first")
	for range maxPlain + 1 {
		claim("often")
	}
	_, err := m.claim(keyed("first"), asking("24"))
	assert.Error(t, err)
}

// A key is not free while one of its calls is under way.
func TestAKeyOfSeveralCallsUnderWay(t *testing.T) {
	m := NewKeys()
	var calls []func(any, error)
	for range 3 {
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		calls = append(calls, over)
	}
	for i, over := range calls {
		_, err := m.claim(keyed("k"), asking("24"))
		require.Error(t, err, "%d are over", i)
		over(nil, &errors.NotDelivered{})
	}
	_, err := m.claim(keyed("k"), asking("24"))
	assert.NoError(t, err)
}

// A call under way is not forgotten, neither for newer keys nor after its lifetime. It does not prevent others from
// being forgotten.
func TestTermsUnderWayAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		claim := func(key string) func(any, error) {
			over, err := m.claim(keyed(key), asking("25"))
			require.NoError(t, err)
			return over
		}
		other := func(key string) error { _, err := m.claim(keyed(key), asking("24")); return err }

		first := claim("first")
		claim("again")(new(booked), nil)
		again := claim("again") // it went out before, and is under way once more
		for i := range 2 * maxPlain {
			claim(fmt.Sprint(i))(new(booked), nil)
		}
		assert.Equal(t, maxPlain, m.plain.Len())
		time.Sleep(7*24*time.Hour + time.Second)
		require.Error(t, other("first"))
		require.Error(t, other("again"))

		first(nil, &errors.NotDelivered{})
		assert.NoError(t, other("first"), "nothing came of it")
		again(new(booked), nil)
		for i := range maxPlain {
			claim(fmt.Sprint("later ", i))(new(booked), nil)
		}
		assert.NoError(t, other("again"), "it is forgotten in its turn")
	})
}

// Rule: idempotency.lifetimes
func TestTermsEndWithTheKeysLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		over(new(booked), nil)
		time.Sleep(7 * 24 * time.Hour)
		_, err = m.claim(keyed("k"), asking("24"))
		require.Error(t, err)
		time.Sleep(time.Second)
		_, err = m.claim(keyed("k"), asking("24"))
		assert.NoError(t, err)
	})
}

func TestOnlyExplicitKeysThatAnchorAreRemembered(t *testing.T) {
	m := NewKeys()
	fresh := keyed("k")
	fresh.call.Key = ""
	natural := NewRequest(&Operation{ID: "CreateClient", Method: "POST", Path: "/clients", Repeat: RepeatNatural}, "",
		Keyed("k"))
	for _, r := range []*Request{fresh, natural} {
		over, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		over(new(booked), nil)
		_, err = m.claim(r, asking("24"))
		assert.NoError(t, err)
	}
	assert.Empty(t, m.known)
}

// A key's owner is the id in the response: the text with that name, and no other member.
func TestTheOwnerOfAKeyIsTheAnswersID(t *testing.T) {
	type named struct {
		Name  string `json:"name"`
		ID    string `json:"id"`
		Other string `json:"other"`
	}
	type numbered struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	list := []string{"po_1"}
	usual, long := "po_"+strings.Repeat("a", 37), "po_"+strings.Repeat("a", 38)
	for _, tc := range []struct {
		answer any
		owner  string
	}{{&named{"Bob", "po_1", "x"}, "po_1"}, {&numbered{1, "Bob"}, ""}, {&list, ""}, {&booked{usual}, usual},
		{&booked{long}, long}, {&booked{strings.Repeat(long, 5)}, strings.Repeat(long, 5)}} {
		m := NewKeys()
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		over(tc.answer, nil)
		_, err = m.claim(keyed("k"), asking("24"))
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &reused)
		assert.Equal(t, tc.owner, reused.PayoutID)
	}
	m := NewKeys()
	over, err := m.claim(keyed("k"), asking("25"))
	require.NoError(t, err)
	over(&booked{usual}, &errors.InDoubt{CallInfo: errors.CallInfo{IdempotencyKey: "k"}})
	_, err = m.claim(keyed("k"), asking("24"))
	var reused *errors.IdempotencyKeyReused
	require.ErrorAs(t, err, &reused)
	assert.Empty(t, reused.PayoutID, "a call that failed has no answer")
}

// A response that echoes another key does not say what this key made.
func TestAResponseToAnotherCallIsNotRemembered(t *testing.T) {
	type echoing struct {
		ID             string `json:"id"`
		IdempotencyKey string `json:"idempotencyKey"`
	}
	for echo, want := range map[string]string{"k": "po_1", "": "po_1", "other": ""} {
		m := NewKeys()
		r := keyed("k")
		over, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		over(&echoing{"po_1", echo}, nil)
		assert.Equal(t, want, m.Get(r.keyScope()).Resource, echo)
	}
}

// It is the error that the service returns for the same mistake.
func TestAReusedKeyNamesItsOwner(t *testing.T) {
	for owner, want := range map[string]errors.IdempotencyKeyReused{
		"payoutId": {PayoutID: "po_1"}, "escrowId": {EscrowID: "po_1"}, "": {},
	} {
		op := bookPayout
		op.Owner = owner
		m := NewKeys()
		r := NewRequest(&op, "cl_1", Keyed("k"))
		lost, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		lost(nil, &errors.InDoubt{})
		nameless, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		nameless(new(NoContent), nil)
		_, err = m.claim(r, asking("24"))
		var without *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &without)
		assert.Empty(t, without.PayoutID+without.EscrowID, "no answer told it")
		over, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		over(&booked{ID: "po_1"}, nil)
		_, err = m.claim(r, asking("24"))
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &reused)
		assert.Equal(t, want.PayoutID, reused.PayoutID)
		assert.Equal(t, want.EscrowID, reused.EscrowID)
		assert.Equal(t, errors.CodeIdempotencyKeyReused, reused.Code)
		assert.Equal(t, "k", reused.IdempotencyKey)
		assert.Zero(t, reused.Status)
		assert.Equal(t, errors.NotMoved, reused.MovedByCall())
		assert.False(t, reused.Retryable())
		assert.Contains(t, reused.Error(),
			"this client has sent the key with other terms (amount), so this request was not sent")
	}
}

func TestAWalkThatComesBackToItsBeginning(t *testing.T) {
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
func TestServiceClockIsThatOfItsRule(t *testing.T) {
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
			call.answer = answer{status: status, header: http.Header{}}
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

// What an unknown outcome and a failed delivery wrap is not what the call ended in.
func TestWhatACallEndedIn(t *testing.T) {
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
func TestWhatMayRepeatASecret(t *testing.T) {
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
