package nonce_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/nonce"
)

func TestNoncesAreHandedOutOnce(t *testing.T) {
	var nonces nonce.Source
	noon := time.Date(2026, 3, 4, 12, 0, 0, 999, time.UTC)
	next := func(after time.Duration) time.Duration {
		return nonces.Next(noon.Add(after)).Sub(noon.Truncate(time.Second))
	}

	var mu sync.Mutex
	seen := map[time.Duration]bool{}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			given := next(0)
			mu.Lock()
			defer mu.Unlock()
			assert.False(t, seen[given], given)
			seen[given] = true
		})
	}
	all.Wait()
	for back := range 100 {
		assert.True(t, seen[-time.Duration(back)*time.Second],
			"the latest second that is free, and none that lies ahead")
	}

	assert.Equal(t, time.Second, next(time.Second))
	assert.Equal(t, -100*time.Second, next(time.Second), "what was taken stays taken")
	assert.Equal(t, -time.Hour, next(-time.Hour), "a clock that was set right counts from there")
	assert.Equal(t, time.Hour, next(time.Hour))
	for range 200 {
		given := next(time.Hour)
		assert.LessOrEqual(t, given, time.Hour)
		assert.Greater(t, given, time.Hour-5*time.Minute, "a nonce is always fresh")
	}
}
