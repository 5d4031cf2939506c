package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

// TestMain runs the program if the program, under test, started itself.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

func TestTwoProcessesShareASessionAndTheRateWindows(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	out := rehearsal.Run(t, run, nil, "logged in, saved the session in a file", "whole rate windows")
	whole, half := together(t, out), together(t, rehearsal.Told(t, out, "half of each rate window"))
	assert.Equal(t, 120, whole.Saved)
	assert.Equal(t, 2*contacts-120, whole.Refused)
	assert.Equal(t, 2*60, half.Saved, "half of 120 in each process")
	assert.Zero(t, half.Refused)
	assert.Zero(t, whole.Logins+half.Logins, "the session is in the file")
}

func together(t *testing.T, out string) (r result) {
	t.Helper()
	found := regexp.MustCompile(`together: saved (\d+), refused (\d+), logins (\d+)`).FindStringSubmatch(out)
	require.NotNil(t, found, out)
	for i, into := range []*int{&r.Saved, &r.Refused, &r.Logins} {
		number, err := strconv.Atoi(found[i+1])
		require.NoError(t, err)
		*into = number
	}
	return r
}
