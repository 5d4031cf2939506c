package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// refusalOf asserts that err is a refusal with this slug.
func refusalOf(t testing.TB, err error, code string) *refuse.Refusal {
	t.Helper()
	var refusal *refuse.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, code, refusal.Code)
	return refusal
}

// details asserts a refusal with this slug, and takes a member of its details.
func details[T any](t testing.TB, err error, code, key string) T {
	t.Helper()
	value, ok := refusalOf(t, err, code).Details[key].(T)
	require.True(t, ok, "details have no such %s", key)
	return value
}
