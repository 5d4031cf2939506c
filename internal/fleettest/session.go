package fleettest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Session returns a session with a token.
func Session(token string) dapi.Session {
	now := time.Now().Truncate(time.Millisecond).UTC()
	return dapi.Session{
		AccessToken: moneymovement.NewSecret(token), RefreshToken: moneymovement.NewSecret(token + "-refresh"),
		ExpiresAt: now.Add(time.Hour), RefreshExpiresAt: now.Add(24 * time.Hour), Credential: "credential",
	}
}

// TokenStore tests a store that is empty: sessions are replaced, and the lock has one owner at a time and an end.
func TokenStore(t *testing.T, store dapi.SessionLocker) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	locked := func(owner string, lasts time.Duration, want bool) {
		t.Helper()
		got, err := store.Lock(ctx, owner, lasts)
		check(err)
		if got != want {
			t.Fatalf("lock of %s: %v", owner, got)
		}
	}
	stored, err := store.Load(ctx)
	check(err)
	if !stored.AccessToken.IsZero() {
		t.Fatal("the store is not empty")
	}
	for _, token := range []string{"one", "two"} {
		want := Session(token)
		check(store.Save(ctx, want))
		stored, err = store.Load(ctx)
		check(err)
		same := stored.AccessToken.Equal(want.AccessToken) && stored.RefreshToken.Equal(want.RefreshToken) &&
			stored.ExpiresAt.Equal(want.ExpiresAt) && stored.RefreshExpiresAt.Equal(want.RefreshExpiresAt) &&
			stored.Credential == want.Credential
		if !same {
			t.Fatalf("stored %v, want %v", stored, want)
		}
	}

	locked("a", time.Minute, true)
	locked("b", time.Minute, false)
	check(store.Unlock(ctx, "b"))
	locked("b", time.Minute, false)
	locked("a", time.Minute, true) // extends it
	check(store.Unlock(ctx, "a"))
	locked("b", 50*time.Millisecond, true)
	if stored, err = store.Load(ctx); err != nil || !stored.AccessToken.Equal(moneymovement.NewSecret("two")) {
		t.Fatal("the lock changed the session", err)
	}
	began := time.Now()
	for free := false; !free; { // b died
		free, err = store.Lock(ctx, "c", time.Minute)
		check(err)
		if time.Since(began) > 30*time.Second {
			t.Fatal("the lock does not end")
		}
	}
	check(store.Unlock(ctx, "c"))

	var all sync.WaitGroup
	var owners atomic.Int32
	for i := range 16 {
		all.Go(func() {
			if got, err := store.Lock(ctx, fmt.Sprint("owner ", i), time.Minute); err == nil && got {
				owners.Add(1)
			}
		})
	}
	all.Wait()
	if owners.Load() != 1 {
		t.Fatalf("%d owners", owners.Load())
	}
}
