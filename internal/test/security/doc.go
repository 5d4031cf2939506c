// Package security tests what SECURITY.md promises, over several modules. No exported type of a released module and no
// client shows a secret: the tests put secrets into all of them, print and encode them in all usual ways, and look for
// the secrets. The list of types is generated. Signatures are verified as published test vectors say, and nothing is
// signed without a context.
package security

//go:generate ../../tools/run exported -root ../../.. -package security -o exported.gen.go
