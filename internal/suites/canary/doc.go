// Package canary plants secrets in every exported type and every client of the SDK, prints and encodes them in all the
// usual ways, and looks for what got out. The list of types is generated.
package canary

//go:generate ../../tools/run exported -root ../../.. -package canary -o exported.gen.go . model dapi appapi refapi public errors signing signing/wallet
