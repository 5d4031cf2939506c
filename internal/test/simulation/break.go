package simulation

import (
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Break breaks one rule of the program under test. A rig that does not notice that proves nothing. The zero value
// breaks nothing.
type Break struct {
	// Connection stands between the program's client and the network.
	Connection func(http.RoundTripper) http.RoundTripper
	// Developer changes the credential of a process.
	Developer func(*dapi.Developer)
	// Store stands between the program and its store.
	Store func(payments.Store) payments.Store
	// Submit changes what is submitted by a process. The first process of a run has number 1.
	Submit func(process int, payment payments.Submission) payments.Submission
	// Config changes the settings of a processor.
	Config func(*payments.Config)
	// Journal changes the program without package payments.
	Journal JournalBreak
}

// JournalBreak breaks rules of the program that pays with dapi alone.
type JournalBreak struct {
	// Key returns the key of a call. process is 1 for the first process of a run, call is 1 for its first call.
	Key func(r *row, process, call int) moneymovement.Key
	// Asked changes what a call pays.
	Asked func(asked *dapi.PayoutCreate, process, call int)
	// Terms changes the terms of a call. They are those of docs/production.md.
	Terms func(terms *dapi.PayTerms, r *row, process int)
	// Save decides whether a row is stored. moment is "journal", "after" or "waited".
	Save func(moment string) bool
	// After changes what a call has shown.
	After func(r *row, err error)
	// Blind stores a row although another process has stored it since it was read.
	Blind bool
	// Hurry ignores when the service asks to come back.
	Hurry bool
}
