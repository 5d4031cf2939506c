package fault_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func always(fault.Fault) bool { return true }

func TestPatternsCoverPaths(t *testing.T) {
	cases := []struct {
		pattern, path string
		want          bool
	}{
		{"/dapi/v1/payouts", "/dapi/v1/payouts", true},
		{"/payouts", "/dapi/v1/payouts", true},
		{"/payouts", "/dapi/v1/payouts/po_1", false},
		{"/payouts/{payoutId}", "/dapi/v1/payouts/po_1", true},
		{"/payouts/*/confirm", "/dapi/v1/payouts/po_1/confirm", true},
		{"/payouts/*/confirm", "/dapi/v1/payouts//confirm", false},
		{"/payouts/*", "/dapi/v1/payouts/po_1/confirm", false},
		{"/dapi/**", "/dapi/v1/payouts/po_1/confirm", true},
		{"/dapi/**", "/dapi", false},
		{"/**", "/anything", true},
		{"**", "/anything/at/all", true},
		{"", "/dapi/v1/payouts", false},
		{"/elsewhere", "/elsewhere", true},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, fault.Matches(c.pattern, c.path), "%q covers %q", c.pattern, c.path)
	}
}

func TestFaultsAreConsumedInTheOrderOfArming(t *testing.T) {
	set := fault.NewSet(store.Memory{})
	first, err := set.Arm("post", "/payouts", 2, fault.Fault{Kind: fault.DropAfterCommit})
	require.NoError(t, err)
	_, err = set.Arm("", "/**", 0, fault.Fault{Kind: fault.Respond, Status: 503})
	require.NoError(t, err)

	_, hit := set.Take("GET", "elsewhere", always)
	assert.False(t, hit)
	for range 2 {
		taken, hit := set.Take("POST", "/dapi/v1/payouts", always)
		require.True(t, hit)
		assert.Equal(t, fault.DropAfterCommit, taken.Kind)
	}
	taken, hit := set.Take("POST", "/dapi/v1/payouts", always)
	require.True(t, hit)
	assert.Equal(t, fault.Respond, taken.Kind)
	_, hit = set.Take("POST", "/dapi/v1/payouts", always)
	assert.False(t, hit, "everything is consumed")

	armed, ok := set.Get(first.ID)
	require.True(t, ok)
	assert.Equal(t, 2, armed.Consumed)
	assert.Len(t, set.List(), 2)
	set.Clear()
	assert.Empty(t, set.List())
}

func TestInvalidFaults(t *testing.T) {
	for _, f := range []fault.Fault{
		{},
		{Kind: "explode"},
		{Kind: fault.Respond},
		{Kind: fault.Respond, Status: 99},
		{Kind: fault.Delay},
		{Kind: fault.Truncate, Keep: -1},
		{Kind: fault.DropBefore, AfterCommit: true},
		{Kind: fault.Delay, Delay: 1, Keep: 1},
		{Kind: fault.Garbage, Body: "{}"},
		{Kind: fault.ExpireToken, Status: 401},
		{Kind: fault.DeliverTwice, After: -1},
		{Kind: fault.ProxyRetry, After: 1},
		{Kind: fault.DeliverTwice, AfterCommit: true},
		{Kind: fault.Garbage, OtherAccount: true},
		{Kind: fault.DropAfterCommit, Headers: map[string]string{"Retry-After": "1"}},
	} {
		set := fault.NewSet(store.Memory{})
		_, err := set.Arm("", "/**", 1, f)
		assert.ErrorIs(t, err, wire.ValidationFailed(""), "%+v", f)
		assert.Empty(t, set.List())
	}
	set := fault.NewSet(store.Memory{})
	_, err := set.Arm("", "/**", -1, fault.Fault{Kind: fault.Garbage})
	assert.ErrorIs(t, err, wire.ValidationFailed(""))
}

func TestFaultWithoutPossibleResponseStaysArmed(t *testing.T) {
	set := fault.NewSet(store.Memory{})
	for _, kind := range []fault.Kind{fault.MisroutedResponse, fault.ProxyRetry} {
		_, err := set.Arm("", "/**", 1, fault.Fault{Kind: kind})
		require.NoError(t, err)
	}
	taken, hit := set.Take("GET", "/user", func(f fault.Fault) bool { return f.Kind != fault.MisroutedResponse })
	require.True(t, hit)
	assert.Equal(t, fault.ProxyRetry, taken.Kind)
	taken, hit = set.Take("GET", "/user", always)
	require.True(t, hit)
	assert.Equal(t, fault.MisroutedResponse, taken.Kind)
}

func TestDisarmedFaultDoesNotFire(t *testing.T) {
	set := fault.NewSet(store.Memory{})
	for range 2 {
		_, err := set.Arm("", "/**", 2, fault.Fault{Kind: fault.Garbage})
		require.NoError(t, err)
	}
	_, hit := set.Take("GET", "/user", always)
	require.True(t, hit)
	assert.False(t, set.Disarm("flt_3"), "no such fault")
	require.True(t, set.Disarm("flt_1"))
	require.True(t, set.Disarm("flt_1"), "a second time changes nothing")
	first, second := set.List()[0], set.List()[1]
	assert.Equal(t, 1, first.Consumed)
	assert.Zero(t, first.Remaining())
	assert.Equal(t, 2, second.Remaining())

	_, hit = set.Take("GET", "/user", always)
	require.True(t, hit, "the other fault")
	set.DisarmAll()
	_, hit = set.Take("GET", "/user", always)
	assert.False(t, hit)
	_, err := set.Arm("", "/**", 1, fault.Fault{Kind: fault.Garbage})
	require.NoError(t, err)
	_, hit = set.Take("GET", "/user", always)
	assert.True(t, hit, "what is armed later happens")
}

func TestRunsOperation(t *testing.T) {
	assert.True(t, fault.Fault{Kind: fault.DropAfterCommit}.RunsOperation())
	assert.True(t, fault.Fault{Kind: fault.Truncate}.RunsOperation())
	assert.True(t, fault.Fault{Kind: fault.Garbage, AfterCommit: true}.RunsOperation())
	assert.True(t, fault.Fault{Kind: fault.ProxyRetry}.RunsOperation())
	assert.True(t, fault.Fault{Kind: fault.MisroutedResponse, AfterCommit: true}.RunsOperation())
	assert.False(t, fault.Fault{Kind: fault.MisroutedResponse}.RunsOperation())
	assert.False(t, fault.Fault{Kind: fault.Garbage}.RunsOperation())
	assert.False(t, fault.Fault{Kind: fault.DropBefore, AfterCommit: true}.RunsOperation())
}

func TestDurationIsEncodedAsText(t *testing.T) {
	var f fault.Fault
	require.NoError(t, json.Unmarshal([]byte(`{"kind":"delay","delay":"1.5s"}`), &f))
	assert.Equal(t, fault.Duration(1500*time.Millisecond), f.Delay)
	text, err := json.Marshal(f)
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"delay","delay":"1.5s"}`, string(text))
	assert.Error(t, json.Unmarshal([]byte(`{"delay":"soon"}`), &f))
}

// TestFaultsAreRestoredFromStore opens the same store again and compares.
func TestFaultsAreRestoredFromStore(t *testing.T) {
	backend := new(storetest.Encoded)
	set := fault.NewSet(backend)
	for _, f := range []fault.Fault{
		{Kind: fault.Delay, Delay: fault.Duration(time.Second)},
		{Kind: fault.Respond, Status: 503, Code: "x", Details: map[string]any{"a": []any{1.5, "b"}},
			Headers: map[string]string{"X-A": "b"}},
	} {
		_, err := set.Arm("post", "/payouts", 2, f)
		require.NoError(t, err)
	}
	_, hit := set.Take("POST", "/payouts", always)
	require.True(t, hit)
	last, err := set.Arm("", "/**", 1, fault.Fault{Kind: fault.Garbage})
	require.NoError(t, err)
	require.True(t, set.Disarm(last.ID))
	assert.Empty(t, backend.Stale())

	again := fault.NewSet(backend)
	assert.Equal(t, set.List(), again.List())
	_, hit = again.Take("POST", "/payouts", always)
	require.True(t, hit)
	taken, _ := again.Take("POST", "/payouts", always)
	assert.Equal(t, fault.Respond, taken.Kind)
	again.Clear()
	renewed := fault.NewSet(backend)
	assert.Zero(t, renewed.Records())
	armed, err := renewed.Arm("", "/**", 1, fault.Fault{Kind: fault.Garbage})
	require.NoError(t, err)
	assert.Equal(t, "flt_4", armed.ID, "ids are not given out again")
}

var operations = fault.Operations{
	{"GET", "/dapi/v1/payouts"}, {"POST", "/dapi/v1/payouts"}, {"GET", "/dapi/v1/payouts/{payoutId}"},
	{"POST", "/dapi/v1/payouts/{payoutId}/confirm"}, {"GET", "/transactions"}, {"GET", "/user"},
}

func TestPatternsOfOperations(t *testing.T) {
	for _, c := range []struct{ method, pattern string }{
		{"POST", "/payouts/{payoutId}/confirm"}, {"POST", "/dapi/v1/payouts/{id}/confirm"}, {"", "/payouts/*"},
		{"GET", "/payouts/po_1"}, {"POST", "/payouts/po_1/confirm"}, {"", "/**"}, {"GET", "**"},
		{"POST", "/dapi/**"}, {"GET", "/transactions"}, {"GET", "/*"},
	} {
		assert.NoError(t, operations.Check(c.method, c.pattern), "%s %s", c.method, c.pattern)
	}
}

func TestUnknownOperationIsRefusedWithSimilarOnes(t *testing.T) {
	for _, c := range []struct {
		method, pattern, nearest string
	}{
		{"PUT", "/payouts", "GET /dapi/v1/payouts"},
		{"POST", "/payout/{payoutId}/confirm", "POST /dapi/v1/payouts/{payoutId}/confirm"},
		{"POST", "/dapi/v1/payouts/{id}/confirms", "POST /dapi/v1/payouts/{payoutId}/confirm"},
		{"POST", "/api/v1/payouts", "POST /dapi/v1/payouts"},
		{"POST", "payouts", "POST /dapi/v1/payouts"},
		{"", "/payouts/{payoutId}/", "GET /dapi/v1/payouts/{payoutId}"},
		{"", "", ""},
		{"GET", "/_host/clock", ""},
		{"POST", "/transactions/**", ""},
	} {
		err := operations.Check(c.method, c.pattern)
		unknown, ok := errors.AsType[*fault.UnknownOperation](err)
		require.True(t, ok, "%s %s: %v", c.method, c.pattern, err)
		require.NotEmpty(t, unknown.Near)
		assert.LessOrEqual(t, len(unknown.Near), 3)
		if c.nearest != "" {
			assert.Equal(t, c.nearest, unknown.Near[0], "%s %s", c.method, c.pattern)
		}
		assert.ErrorContains(t, err, unknown.Near[0])
	}
}

func TestSimilarOperationsAreBounded(t *testing.T) {
	unknown, ok := errors.AsType[*fault.UnknownOperation](operations.Check("POST", "/payouts/{payoutId}/confirms"))
	require.True(t, ok)
	assert.Equal(t, []string{"POST /dapi/v1/payouts/{payoutId}/confirm"}, unknown.Near)
	unknown, ok = errors.AsType[*fault.UnknownOperation](operations.Check("PUT", "/payouts"))
	require.True(t, ok)
	assert.Equal(t, []string{"GET /dapi/v1/payouts", "POST /dapi/v1/payouts", "GET /dapi/v1/payouts/{payoutId}"},
		unknown.Near)
}
