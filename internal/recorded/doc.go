// Package recorded lets the examples of the SDK's packages run without the sandbox host. It returns responses that the
// host gave when the example was recorded. If the SDK imported the host for its examples, every user of the SDK would
// get the host's dependencies.
//
// Each example that calls [Serve] has a recording, testdata/<package>/<example>.json, with its requests and the host's
// responses, in order. testdata/operations.json says where a response to each operation is, for the exported package
// recorded. The suite in internal/test/recordings runs the same examples against the host and compares;
// `make recordings` writes the files again. A random value of the host is replaced by a name such as po_1, numbered by
// first appearance. A time is relative to the start of the example: {{now+15m0s}}.
package recorded
