// Package bench measures what the SDK costs next to a client written by hand on net/http and encoding/json.
//
// Both ask an [http.RoundTripper] in memory that returns the very same bytes, in turns within one run, so that a busy
// machine slows both alike; what is reported is the ratio. Nothing here is gated by time. TestAllocations holds the
// allocations, which do not depend on the machine. README.md shows a run; `make bench` makes one.
//
// [http.RoundTripper]: https://pkg.go.dev/net/http#RoundTripper
package bench
