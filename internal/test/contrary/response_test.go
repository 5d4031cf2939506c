package contrary_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// Each operation gets everything that it describes, but for one thing: what is left of the response is read,
// and the one thing is named.
func TestResponseWithOneDifferingPart(t *testing.T) {
	eachChange(t, []contrary.Class{contrary.ClassResponse, contrary.ClassConstraint}, readings, "of", readOther)
}

// readings are the mark's changes, each of a read and of a write: the same schema is read in the same way wherever it
// stands. The place that is nearest to the top of a response stands for the others.
func readings(mark *contrary.Mark) (chosen []contrary.Change) {
	type kind struct {
		contrary.Case
		read bool
	}
	index := map[kind]int{}
	for _, change := range mark.Changes() {
		o := change.Site.Operation
		if o == nil || !readAlone(change) {
			continue
		}
		key := kind{change.Case, o.Method == http.MethodGet}
		i, known := index[key]
		switch {
		case !known:
			index[key] = len(chosen)
			chosen = append(chosen, change)
		case len(change.Site.Path) < len(chosen[i].Site.Path):
			chosen[i] = change
		}
	}
	return chosen
}

// readAlone reports changes of the response that the sample service gives.
func readAlone(c contrary.Change) bool {
	status, _ := success(c.Site.Operation)
	return (c.Class == contrary.ClassResponse || c.Class == contrary.ClassConstraint) &&
		concerns(c, c.Site.Operation.Name(), status)
}

// reading is what came of one call.
type reading struct {
	value    any // as a tree
	response moneymovement.Response
	err      error
}

// readOther makes the call as described, and again with the change.
func readOther(t *testing.T, d *wire.Description, c contrary.Change) {
	service := http.Handler(sampleService{description: d, variants: c.Site.Variants})
	if word, is := c.Mark.Value(); is {
		service = &contraryHost{next: service, description: d, everywhere: true,
			changes: []contrary.Change{withWord(c, word)}}
	}
	before := readBefore(t, c, service)
	host := &contraryHost{next: service, description: d, changes: []contrary.Change{c}}
	after := read(t, c, host, false)
	met, changed := host.occurred()
	require.Positive(t, met, "the case did not occur")
	check(t, c, before, after, changed)
}

// withWord puts the word in question where it belongs.
func withWord(c contrary.Change, word string) contrary.Change {
	mark := *c.Mark
	assumption := *mark.Assumption
	assumption.Aspect = ""
	mark.Assumption = &assumption
	c.Mark, c.Kind, c.Member = &mark, setWord, word
	return c
}

// setWord is not one of the usual changes: it sets the word that the case names.
const setWord contrary.Kind = "the word itself"

// described are the readings of responses as described, by operation and by what is chosen in them.
var described sync.Map

func readBefore(t *testing.T, c contrary.Change, service http.Handler) reading {
	t.Helper()
	key := fmt.Sprint(c.Site.Operation.Name(), c.Site.Variants)
	if word, is := c.Mark.Value(); is {
		key += fmt.Sprint(word, c.Site.Path)
	}
	if known, is := described.Load(key); is {
		if before, is := known.(reading); is {
			return before
		}
	}
	before := read(t, c, service, true)
	require.NoError(t, before.err, "as described")
	described.Store(key, before)
	return before
}

func read(t *testing.T, c contrary.Change, service http.Handler, shared bool) (r reading) {
	t.Helper()
	made := newCall(t, c.Site.Operation, service)
	made.shared = shared
	made.ask(nil)
	defer func() {
		if cause := recover(); cause != nil {
			require.Fail(t, "it panicked", "%v", cause)
		}
	}()
	value, err := callOf(c.Site.Operation)(made)
	r = reading{response: made.response, err: err}
	if err == nil {
		r.value = tree(t, value)
	}
	return r
}

func check(t *testing.T, c contrary.Change, before, after reading, changed []pointer) {
	t.Helper()
	promise := contrary.Promised(c)
	if after.err != nil {
		require.NotEqual(t, contrary.Passes, promise.Outcome, "%v", after.err)
		requireTyped(t, c, after.err)
		return
	}
	require.NotEqual(t, contrary.Fails, promise.Outcome, "%s, and it passed: %s", promise.Why, after.response.Body)
	if contrary.IsPageList(c.Site) && promise.Outcome == contrary.MayFail {
		return // the wrapper may have read the list by itself
	}
	if contrary.EffectOf(c.Kind) == contrary.Whole {
		if c.Kind == contrary.Status200 || c.Kind == contrary.Status201 || c.Kind == contrary.Status202 {
			assert.Equal(t, before.value, after.value)
		}
		return
	}
	checkValue(t, c, before, after, changed)
	checkUnread(t, c, promise, before, after, changed)
}

// checkValue: everything else of the response is there, and nothing was made up in the place of what is other.
func checkValue(t *testing.T, c contrary.Change, before, after reading, changed []pointer) {
	t.Helper()
	effect := contrary.EffectOf(c.Kind)
	if c.Site.In == "header" {
		changed = nil
	}
	changed = inValue(before, changed)
	for _, p := range differences(before.value, after.value, nil) {
		ofEntry := isEntry(p)
		related := c.Kind == contrary.BareList && slices.Contains(besideTheList, p[0])
		for _, q := range changed {
			related = related || p.within(q) || ofEntry && q.within(p) || allBelowLost(after.value, p, q) ||
				c.Kind == contrary.Renamed && p.within(renamed(q))
		}
		assert.True(t, related, "%s is other, and the response was so at %s only:\n%s", p, joined(changed),
			after.response.Body)
	}
	body, _ := decode(after.response.Body)
	if name, part := shownPart(body, after.value); part {
		body = member(body, name)
	}
	for _, q := range changed {
		got, there := at(after.value, q)
		was, _ := at(before.value, q)
		came, _ := at(body, q)
		switch {
		case contrary.StatedInstead[c.Mark.Name()] != "", isLogin(c.Site.Operation): // the session shows no response
		case there && got != nil && effect == contrary.Unread && !shifted(before.value, after.value, q):
			assert.Equal(t, fmt.Sprint(came), fmt.Sprint(got), "it is zero, or as it came")
		case effect == contrary.Respelt:
			assert.True(t, sameValue(was, got), "it reads all the same: %v, not %v", was, got)
		case effect == contrary.Word && was != nil:
			assert.Equal(t, "another_word", got, "it is kept as it is")
		case effect == contrary.Missing:
			assert.False(t, there && got != nil && !shifted(before.value, after.value, q),
				"what is not there reads as %v", got)
		}
	}
}

// besideTheList is what a bare list has no room for.
var besideTheList = []string{"nextCursor", "total"}

// allBelowLost reports that an object lost its last member with the one at q, so that it counts as empty itself.
func allBelowLost(after any, p, q pointer) bool {
	left, _ := at(after, p)
	return q.within(p) && left == nil
}

// shifted reports that an entry before q, or its own, was left out, so that another one stands there.
func shifted(before, after any, q pointer) bool {
	for depth := range q {
		b, _ := at(before, q[:depth])
		a, _ := at(after, q[:depth])
		one, isList := b.([]any)
		other, also := a.([]any)
		if isList && also && len(other) < len(one) {
			return true
		}
	}
	return false
}

// checkUnread: the response names what could not be read, and nothing else.
func checkUnread(t *testing.T, c contrary.Change, promise contrary.Promise, before, after reading, changed []pointer) {
	t.Helper()
	if isLogin(c.Site.Operation) {
		return // the response is the SDK's own
	}
	parts := unread(after.response)
	for _, part := range parts {
		related := false
		for _, q := range changed {
			related = related || part.at.within(q) || q.within(part.at)
		}
		assert.True(t, related, "%s is named as unread, and the response was other at %s only", part.at,
			joined(changed))
		assert.NotEmpty(t, part.problem)
		if promise.Assumed {
			assert.False(t, part.stated, "%s is assumed", part.at)
		}
	}
	if promise.Unnamed {
		assert.Empty(t, parts, "the absence of an optional member is no difference")
	}
	if !promise.Named {
		return
	}
	for _, q := range changed {
		shown := inValue(before, []pointer{q})
		if len(shown) > 0 {
			got, there := at(after.value, shown[0])
			if there && got != nil && !shifted(before.value, after.value, shown[0]) && readAllTheSame(got) {
				continue
			}
		}
		assert.NotEmpty(t, parts, "%s was not read, and nothing says so", q)
	}
}

// readAllTheSame reports a scalar: what was not read is zero, and what is kept raw is an object or a list.
func readAllTheSame(got any) bool {
	switch got.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// requireTyped: the error is one of a call's, and says which operation it is about.
func requireTyped(t *testing.T, c contrary.Change, err error) {
	t.Helper()
	_, is := errors.CallInfoOf(err)
	require.True(t, is, "%T: %v", err, err)
	assert.ErrorContains(t, err, c.Site.Operation.ID)
	if isLogin(c.Site.Operation) {
		return // the error is that of the call that needed a session
	}
	_, inDoubt := errors.AsType[*errors.InDoubt](err)
	_, unexpected := errors.AsType[*errors.UnexpectedResponse](err)
	assert.True(t, inDoubt || unexpected, "%T: %v", err, err)
	assert.False(t, inDoubt && c.Site.Operation.Method == http.MethodGet, "nothing comes of a read")
}

// A refusal of another form than that of the platform API is still a typed one, with its status and what it says.
func TestRefusalOfAnotherForm(t *testing.T) {
	d := describe(t)
	for _, mark := range derive(t) {
		for _, change := range refusals(mark) {
			t.Run(fmt.Sprintf("%s/%s of %s", mark.Name(), change.Name(), change.Site.Operation.Name()),
				func(t *testing.T) {
					t.Parallel()
					refuseOtherwise(t, d, change)
				})
		}
	}
}

// refusals are the mark's cases in refusals, each of a read and of a write.
func refusals(mark *contrary.Mark) []contrary.Change {
	type kind struct {
		contrary.Case
		read bool
	}
	return firstCases(mark,
		func(c contrary.Change) bool {
			return c.Class == contrary.ClassResponse && c.Site.Side == contrary.Response && !c.Site.Success()
		},
		func(c contrary.Change) kind { return kind{c.Case, c.Site.Operation.Method == http.MethodGet} })
}

// refuseAll responds to everything with one refusal.
func refuseAll(a *response) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range a.header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	})
}

func refuseOtherwise(t *testing.T, d *wire.Description, c contrary.Change) {
	status, code := http.StatusForbidden, "forbidden"
	if c.Site.Name() == "Retry-After" {
		status, code = http.StatusTooManyRequests, "rate_limited"
	}
	as := refusal(status, code, problem, nil)
	if c.Site.Status == "422" {
		status = http.StatusUnprocessableEntity
		as = fieldRefused(c.Site.Operation, "body", "status", "missing")
	}
	as.header.Set("Retry-After", "1")
	host := &contraryHost{next: refuseAll(as), description: d, changes: []contrary.Change{c}}
	made := newCall(t, c.Site.Operation, host)
	made.ask(nil)
	_, err := callOf(c.Site.Operation)(made)
	met, _ := host.occurred()
	require.Positive(t, met, "the case did not occur: %v", err)
	requireRefused(t, c, err, status)
}

// requireRefused: the reference endpoints' own form is a refusal with what it says; any other is an error with its
// status.
func requireRefused(t *testing.T, c contrary.Change, err error, status int) {
	t.Helper()
	require.Error(t, err)
	assert.ErrorContains(t, err, c.Site.Operation.ID)
	unexpected, is := errors.AsType[*errors.UnexpectedResponse](err)
	if is && (c.Kind != contrary.DetailText || c.Site.Operation.Surface != "refapi.yaml") {
		assert.Equal(t, status, unexpected.Status)
		return
	}
	refused, is := errors.AsType[*errors.Refusal](err)
	require.True(t, is, "%T: %v", err, err)
	assert.Equal(t, status, refused.Status)
	if c.Site.In == "" {
		assert.ErrorContains(t, err, problem)
	}
}
