//go:build cgo

package main

// withPKCS11 is whether the program can load a module of PKCS #11.
const withPKCS11 = true
