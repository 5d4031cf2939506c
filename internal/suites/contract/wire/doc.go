// Package wire reads the description of the wire for the contract suite: its operations, its schemas as they are
// written, and every assumption with the place that carries it. Generated models do not carry the marks (x-assumed), so
// that this package reads the YAML itself.
package wire
