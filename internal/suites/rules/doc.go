// Package rules holds this module to its own plan. It has tests only: who may import whom (floors), which third-party
// modules an SDK user takes on, and the hygiene of the tree. Each rule is also run against a made-up tree that breaks
// it, so that a rule which no longer finds anything is found itself.
package rules

//go:generate ../../tools/run ruletable -root ../../..
