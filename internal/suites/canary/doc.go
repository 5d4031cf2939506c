// Package canary puts secrets into every exported type and every client of the SDK. It prints and encodes them in all
// usual ways, and checks that no secret appears. The list of types is generated.
package canary

//go:generate ../../tools/run exported -root ../../.. -package canary -o exported.gen.go . model dapi appapi refapi public errors signing signing/wallet
