// Package examples holds programs that each show one flow. README.md lists them by what the reader wants to do, and the
// tests run each by the command in its first line.
package examples
