package rig_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/test/rig"
)

func shell(t *testing.T, script string) *rig.Child {
	t.Helper()
	return rig.Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}.New(t)
}

func TestHowChildrenEnd(t *testing.T) {
	t.Parallel()
	t.Run("by themselves", func(t *testing.T) {
		t.Parallel()
		child := shell(t, "echo out; echo err >&2; exit 7")
		child.Kill() // has not started
		child.Start()
		exit, err := child.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, rig.Exit{Code: 7, Output: "out\nerr\n"}, exit)
		child.Kill()
		again, err := child.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, exit, again, "a kill changes nothing any more")
	})
	t.Run("by a kill", func(t *testing.T) {
		t.Parallel()
		child := shell(t, "echo started; sleep 600")
		child.Start()
		child.KillAfter(time.Millisecond)
		exit, err := child.Wait(t.Context())
		require.NoError(t, err)
		assert.True(t, exit.Killed)
	})
	t.Run("by a signal that they handle", func(t *testing.T) {
		t.Parallel()
		child := shell(t, `trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done`)
		require.Error(t, child.Interrupt(time.Second), "has not started")
		child.Start()
		require.Eventually(t, func() bool { return child.Output() == "ready\n" }, time.Minute, time.Millisecond)
		require.NoError(t, child.Interrupt(time.Minute))
		exit, err := child.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, rig.Exit{Code: 3, Output: "ready\nbye\n"}, exit)
	})
	t.Run("after the context", func(t *testing.T) {
		t.Parallel()
		child := shell(t, "sleep 600")
		_, err := child.Wait(t.Context())
		require.Error(t, err, "has not started")
		child.Start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = child.Wait(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestATestBinaryRunsItsPrograms(t *testing.T) {
	t.Parallel()
	for program, code := range map[string]int{"nothing": 0, "pay": 1, "unknown": 2} {
		child := rig.Again(t, program).New(t)
		child.Start()
		exit, err := child.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, code, exit.Code, "%s: %s", program, exit.Output)
		assert.NotContains(t, exit.Output, "PASS", "it ran the tests")
	}
}

func TestPausesRepeat(t *testing.T) {
	t.Parallel()
	one, same, other := rig.Pauses(1, 0, time.Hour), rig.Pauses(1, 0, time.Hour), rig.Pauses(2, 0, time.Hour)
	for range 10 {
		first := one()
		assert.Equal(t, first, same())
		assert.NotEqual(t, first, other())
	}
	assert.Panics(t, func() { rig.Pauses(1, time.Second, time.Second) })
}

func TestTrapsWaitForTheirMoment(t *testing.T) {
	t.Parallel()
	host := rig.Serve(t)
	send := func(method, path, body string) error {
		request, err := http.NewRequest(method, host.URL()+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Idempotency-Key", "key-of-the-test")
		request.GetBody = nil // net/http would send it again
		response, err := host.Client().Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	calls := 0
	lost := host.At(rig.Moment{Request: "POST /dapi/v1/*/challenge", Number: 2}, func() { calls++ })
	removed := host.At(rig.Moment{Request: "GET /never"}, func() { calls++ })
	require.NoError(t, send("POST", "/dapi/v1/auth/challenge", "{}"))
	require.NoError(t, send("GET", "/dapi/v1/auth/challenge", ""))
	require.Error(t, send("POST", "/dapi/v1/auth/challenge", "[]"))
	<-lost.Sprung()
	require.NoError(t, send("POST", "/dapi/v1/auth/challenge", "{}"), "it springs once")
	assert.Equal(t, 1, calls)
	assert.Len(t, host.Requests(), 3, "the host has not handled the lost one")
	require.Len(t, host.Raw(), 4)
	assert.Equal(t, "[]", string(host.Raw()[2].Body))
	assert.Equal(t, []string{"POST /dapi/v1/auth/challenge key-of-the-test: {}, then []"}, host.KeysWithTwoBodies())

	committed := host.At(rig.Moment{Phase: rig.Committed}, func() { calls++ })
	require.Error(t, send("POST", "/dapi/v1/auth/challenge", "{}"))
	<-committed.Sprung()
	assert.Len(t, host.Requests(), 4)
	host.Disarm()
	require.NoError(t, send("GET", "/never", ""))
	assert.Equal(t, 2, calls)
	select {
	case <-removed.Sprung():
		t.Error("a trap that was removed has sprung")
	default:
	}
}
