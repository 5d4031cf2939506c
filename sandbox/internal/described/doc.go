// Package described has the description of each operation, cut out of openapi/*.yaml.
//
// Reading the YAML files takes longer than most tests. The generated files have what the host needs of them, as JSON:
// one line for each operation, with the components that it refers to.
package described

//go:generate go run ./cut
