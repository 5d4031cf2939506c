// Package wire reads the description of the wire, for the suites and for `moneymove check`: its operations, its schemas
// as they are written, and every assumption with its place. It reads the YAML itself, because generated models do not
// have the marks (x-assumed).
package wire
