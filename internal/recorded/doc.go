// Package recorded plays answers of the sandbox host to the runnable examples of the SDK's packages. An SDK that imported the host for them would
// hand the host's dependencies to its users.
//
// Each example that calls [Serve] has a recording, testdata/<package>/<example>.json: its requests and the answers in the order in which the host
// gave them. The suite internal/suites/recordings runs the same examples against the host itself and compares; `make recordings` writes the files
// anew. What a host draws at random has a name there by first appearance (po_1), and its times are counted from the start: {{now+15m0s}}.
package recorded
