// Package rules holds the rules of this repository that no linter knows. It has tests only. Each rule is also run on
// something made up that breaks it, so that a rule which no longer finds anything fails. .golangci.yml has the others:
// which package may import which, names, the length of lines and files.
package rules
