package transport

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
)

// ShareOfStatedWindows returns the part of each window that one of n clients of a credential may use: rounded
// down, and at least one call. The window of a login challenge stays whole, since only one client knows the challenge.
func ShareOfStatedWindows(n int) map[moneymovement.Window]moneymovement.Allowance {
	windows := moneymovement.StatedWindows()
	for window, allowance := range windows {
		if window != moneymovement.WindowLoginChallenge {
			allowance.Calls = max(allowance.Calls/max(n, 1), 1)
			windows[window] = allowance
		}
	}
	return windows
}
