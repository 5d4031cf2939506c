// Package examples has programs that each show one flow. README.md lists them by what you want to do. The tests run
// each program by the command in its first line.
package examples
