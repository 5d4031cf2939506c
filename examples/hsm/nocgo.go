//go:build !cgo

package main

const withPKCS11 = false
