// Package rules holds the rules of this repository. It has tests only: which package may import which (floors), which
// third-party modules users of the SDK get, and the form of the files. Each rule is also run against a made-up tree
// that breaks it, so that a rule which no longer finds anything fails.
package rules
