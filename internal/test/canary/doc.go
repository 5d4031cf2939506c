// Package canary puts secrets into every exported type of every released module, and into every client of the SDK. It
// prints and encodes them in all usual ways, and checks that no secret appears. The list of types is generated.
package canary

//go:generate ../../tools/run exported -root ../../.. -package canary -o exported.gen.go
