// Package survey calls every operation that reads, and writes nothing. It takes the operations and their parameters
// from the description, and the ids from the responses that it gets. It also sends reads that a host must refuse:
// without a credential, with an unknown id, with a value that the description does not allow.
//
// The contract suite has it as one of its flows. `moneymove check` is [Check], which runs it alone and returns the
// report of the suite.
package survey
