package rig

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Relay runs a command again and again, and each run can be killed, until one ends by itself. It calls arm before each
// run, which it counts from 0: arm sets a trap of a Host, or calls Child.KillAfter, or lets the run be. Relay returns
// how often a run was killed, and the exit of the last run. Runs is the most it starts.
func Relay(ctx context.Context, t testing.TB, command Command, runs int, arm func(run int, child *Child)) (int, Exit) {
	t.Helper()
	for run := range runs {
		child := command.New(t)
		arm(run, child)
		child.Start()
		exit, err := child.Wait(ctx)
		if err != nil {
			t.Fatalf("rig: run %d of %s: %v\n%s", run, command.Path, err, child.Output())
		}
		if !exit.Killed {
			return run, exit
		}
	}
	t.Fatalf("rig: all %d runs of %s were killed", runs, command.Path)
	return 0, Exit{}
}

// Pauses returns durations between two bounds. The same seed returns the same ones.
func Pauses(seed uint64, least, most time.Duration) func() time.Duration {
	if least < 0 || most <= least {
		panic(fmt.Sprintf("rig: no durations between %s and %s", least, most))
	}
	source := rand.New(rand.NewPCG(seed, 0)) //gosec:disable G404 -- a test repeats it
	return func() time.Duration { return least + time.Duration(source.Int64N(int64(most-least))) }
}
