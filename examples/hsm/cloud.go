//go:build cloud

package main

// They link much, so the program has them only when you ask:
// GOWORK=off go -C examples/hsm run -tags cloud . -key ADDRESS
import (
	_ "go.step.sm/crypto/kms/awskms"   // for keys that begin with awskms:
	_ "go.step.sm/crypto/kms/azurekms" // for keys that begin with azurekms:
	_ "go.step.sm/crypto/kms/cloudkms" // for keys that begin with cloudkms:, those of Google Cloud
)
