package moneymovement_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

func TestEachCaptureOptionGetsTheResponse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req_1")
		_, _ = io.WriteString(w, `{"usdRate":"1.08","bankTransfer":"1.07","card":"1.06"}`)
	}))
	defer server.Close()
	client, err := public.New(server.URL)
	require.NoError(t, err)
	var first, second moneymovement.Response
	_, err = client.Rates.Get(t.Context(), "EUR", moneymovement.CaptureResponse(&first),
		moneymovement.CaptureResponse(&second))
	require.NoError(t, err)
	assert.Equal(t, 200, first.Status)
	assert.Equal(t, "req_1", first.RequestID)
	assert.Equal(t, first, second)
}

func TestCallSettingsAreCollected(t *testing.T) {
	assert.Zero(t, moneymovement.CallSettingsOf[moneymovement.CallOption]())
	var first, second, secret moneymovement.Response
	settings := moneymovement.CallSettingsOf[moneymovement.WriteOption](
		moneymovement.IdempotencyKey("first"), nil, moneymovement.CaptureResponse(&first),
		moneymovement.Timeout(time.Second), moneymovement.IdempotencyKey("rent-1"),
		moneymovement.CaptureResponse(&second), moneymovement.CaptureResponseWithSecrets(&secret))
	assert.Equal(t, moneymovement.CallSettings{
		Key: "rent-1", Timeout: new(time.Second), Capture: []*moneymovement.Response{&first, &second},
		CaptureRevealing: []*moneymovement.Response{&secret},
	}, settings)
}

// A call with an invalid option is refused, and so is the constructor of a client.
func TestInvalidOptionsAreRefused(t *testing.T) {
	problems := func(fields []errors.Field) (found []string) {
		for _, field := range fields {
			found = append(found, field.Field+" "+field.Code)
		}
		return found
	}
	assert.Equal(t, []string{"Idempotency-Key missing", "Timeout out_of_range", "CaptureResponse missing",
		"CaptureResponse missing"}, problems(moneymovement.CallSettingsOf[moneymovement.WriteOption](
		moneymovement.IdempotencyKey(""), moneymovement.Timeout(-1), moneymovement.CaptureResponse(nil),
		moneymovement.CaptureResponseWithSecrets(nil)).Invalid))
	for name, option := range map[string]moneymovement.Option{
		"WithTransport invalid_option":     moneymovement.WithTransport(nil),
		"WithTimeout out_of_range":         moneymovement.WithTimeout(-1),
		"WithPolling out_of_range":         moneymovement.WithPolling(2, 1),
		"WithClockDifference out_of_range": moneymovement.WithClockDifference(0),
		"WithRateShare too_small":          moneymovement.WithRateShare(0),
	} {
		assert.Equal(t, []string{name}, problems(moneymovement.ClientSettingsOf(nil, option).Invalid))
		_, err := public.New("https://service.example", option)
		refused, is := errors.AsType[*errors.InvalidInput](err)
		require.True(t, is, "%v", err)
		assert.Equal(t, []string{name}, problems(refused.Fields))
	}
}

func TestPausesOutsideTheBoundsAreRefused(t *testing.T) {
	const day = 24 * time.Hour
	for pace, refused := range map[moneymovement.Pace]bool{
		{Least: time.Second, Most: time.Minute}: false,
		{Least: time.Millisecond, Most: day}:    false,
		{Least: day, Most: day}:                 false,
		{}:                                      true,
		{Least: time.Millisecond - 1, Most: time.Hour}: true,
		{Least: -time.Second, Most: math.MinInt64}:     true,
		{Least: time.Minute, Most: time.Minute - 1}:    true,
		{Least: time.Second, Most: day + 1}:            true,
	} {
		of := moneymovement.WaitSettingsOf(nil, moneymovement.PollEvery(pace.Least, pace.Most))
		assert.Equal(t, refused, len(of.Invalid) == 1, "%v", pace)
		assert.Equal(t, pace, of.Polling)
	}
}

func TestNilProgressFunctionIsRefused(t *testing.T) {
	invalid := moneymovement.WaitSettingsOf(moneymovement.OnProgress(nil)).Invalid
	require.Len(t, invalid, 1)
	assert.Equal(t, "OnProgress missing", invalid[0].Field+" "+invalid[0].Code)
}

// A wait for what moves no money says so.
func TestStillPendingSaysWhetherMoneyCanMove(t *testing.T) {
	for resource, want := range map[string]errors.Movement{
		"client": errors.NotMoved, "rail": errors.NotMoved, "verification": errors.NotMoved,
		"payout": errors.MaybeMoved, "payin": errors.MaybeMoved, "escrow": errors.MaybeMoved,
		"quote": errors.MaybeMoved,
	} {
		err := &moneymovement.StillPending{Progress: moneymovement.Progress{Resource: resource, ID: "7", Status: "open",
			Reads: 2, Waited: time.Second}, Err: errors.New("why")}
		assert.Equal(t, want, err.MovedByCall(), resource)
		assert.True(t, err.Retryable())
		require.ErrorContains(t, err, resource+" 7 is still open after 1s and 2 reads: why - see ")
		require.ErrorIs(t, err, err.Err)
	}
}

var stated = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

func TestDerivedKeysAreValidStableAndDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.String()).Draw(t, "parts")
		key := moneymovement.DeriveKey(parts...)
		if !stated.MatchString(string(key)) {
			t.Fatalf("key %q is not of the stated form", key)
		}
		if again := moneymovement.DeriveKey(slices.Clone(parts)...); again != key {
			t.Fatalf("%q and %q for the same parts", key, again)
		}
		other := rapid.SliceOf(rapid.String()).Draw(t, "other")
		if !slices.Equal(parts, other) && moneymovement.DeriveKey(other...) == key {
			t.Fatalf("the same key for %q and %q", parts, other)
		}
	})
}

func TestDerivedKeysDependOnHowPartsAreCut(t *testing.T) {
	assert.NotEqual(t, moneymovement.DeriveKey("ab", "c"), moneymovement.DeriveKey("a", "bc"))
	assert.NotEqual(t, moneymovement.DeriveKey("a", ""), moneymovement.DeriveKey("a"))
	assert.NotEqual(t, moneymovement.DeriveKey("é"), moneymovement.DeriveKey("è"), "replaced characters still count")
}

// What a key may hold stays readable, and anything else becomes a dash.
func TestDerivedKeysAreReadable(t *testing.T) {
	key := string(moneymovement.DeriveKey("azAZ09._:-", "`{@[/;,^é"))
	assert.Equal(t, "azAZ09._:-:---------", key[:len(key)-33])
	long := string(moneymovement.DeriveKey(strings.Repeat("x", 200)))
	assert.Len(t, long, 128)
	assert.Equal(t, strings.Repeat("x", 95)+".", long[:96])
}

func ExampleDeriveKey() {
	fmt.Println(moneymovement.DeriveKey("payroll", "2026-11", "employee 7"))
	// Output: payroll:2026-11:employee-7.5e405b7784eee37affe707f016b35b43
}
