// Package simulation runs payments in many ways that a seed chooses, and checks each run against the host's books.
//
// A run is a bubble of testing/synctest: its clock is virtual. synctest fixes the time of what happens, and not the
// order. So every request, response, store operation and signature stops at one [Scheduler], which lets one of them go
// on at a time. The seed decides which. The same seed is the same run, and [Trace] shows it, line by line.
//
// What else could differ between two runs comes from the seed as well: the host's random ids (testing/cryptotest), the
// pauses of the SDK, and every fault. A draw never depends on the order in which goroutines arrive: it is a hash of the
// seed and of the name of what it is for.
package simulation
