package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

// encoded makes a host keep its records as bytes, and fails the test if the host changed one without saying so. The store
// in memory would not notice.
func encoded(t testing.TB) sandbox.Option {
	t.Helper()
	kept := new(storetest.Encoded)
	t.Cleanup(func() { assert.Empty(t, kept.Stale()) })
	return sandbox.WithStore(kept)
}
