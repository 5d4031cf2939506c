//go:build !race

package simulation

// raced reports the race detector, under which a run takes ten times as long: the tests then make fewer.
const raced = false
