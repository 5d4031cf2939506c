package contrary_test

import (
	"testing"
	"testing/synctest"
)

// As described, every flow goes through.
func TestFlowsAsDescribed(t *testing.T) {
	d := describe(t)
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { f.run(newWorld(t, d)) })
		})
	}
}
