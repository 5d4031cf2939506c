// Package bench measures what the SDK costs next to a client written by hand on net/http and encoding/json.
//
// Both clients call an [http.RoundTripper] in memory that returns the same bytes. They take turns within one run, so a
// busy machine slows both in the same way. The benchmarks report the ratio. No check depends on time. TestAllocations
// checks the number of allocations, which is the same on every machine. README.md shows a run. `make bench` makes one.
//
// [http.RoundTripper]: https://pkg.go.dev/net/http#RoundTripper
package bench
