package moneymovement_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// The error of a limiter for a call that comes too late says why.
func TestWindowFullNamesItsCause(t *testing.T) {
	late := &moneymovement.WindowFull{Window: moneymovement.WindowWrites}
	require.ErrorIs(t, late, context.DeadlineExceeded)
	require.ErrorContains(t, late, "rate window writes has no room before the deadline")
	late.Closed = true
	require.NotErrorIs(t, late, context.DeadlineExceeded)
	require.ErrorContains(t, late, "rate window writes has no room before the approval's window closes")
}

func TestTheStatedWindows(t *testing.T) {
	stated := moneymovement.StatedWindows()
	assert.Equal(t, moneymovement.Allowance{Calls: 120, Per: time.Minute}, stated[moneymovement.WindowWrites])
	assert.Equal(t, 61*time.Second, stated[moneymovement.WindowWrites].Span())
	stated[moneymovement.WindowWrites] = moneymovement.Allowance{}
	assert.Equal(t, 120, moneymovement.StatedWindows()[moneymovement.WindowWrites].Calls, "each map is the caller's")
}

// Limiters that processes share store the names of windows and classes, and logs have them.
func TestNamesOfWindowsAndClasses(t *testing.T) {
	assert.Equal(t, []moneymovement.Window{"reads", "writes", "login", "login_email", "login_challenge",
		"sandbox_money"},
		[]moneymovement.Window{
			moneymovement.WindowReads, moneymovement.WindowWrites, moneymovement.WindowLogin,
			moneymovement.WindowLoginEmail,
			moneymovement.WindowLoginChallenge, moneymovement.WindowSandboxMoney,
		})
	assert.Equal(t, []moneymovement.RateClass{"refresh", "confirm", "login", "write", "read", "poll"},
		[]moneymovement.RateClass{
			moneymovement.ClassRefresh, moneymovement.ClassConfirm, moneymovement.ClassLogin, moneymovement.ClassWrite,
			moneymovement.ClassRead,
			moneymovement.ClassPoll,
		})
}
