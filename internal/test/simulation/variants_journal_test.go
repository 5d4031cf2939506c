package simulation

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// journalVariants break rules of docs/production.md.
func journalVariants() []variant {
	return []variant{
		journalVariant("each call has a key of its own", JournalBreak{
			Key: func(r *row, process, call int) moneymovement.Key {
				return moneymovement.Key(fmt.Sprintf("%s-%d-%d", r.ID, process, call))
			}}),
		journalVariant("a restart has a key of its own", JournalBreak{
			Key: func(r *row, process, _ int) moneymovement.Key {
				return moneymovement.Key(fmt.Sprintf("%s-%d", r.ID, process))
			}}),
		journalVariant("two payments share a key", JournalBreak{
			Key: func(r *row, _, _ int) moneymovement.Key { return moneymovement.Key(r.ID[:4]) }}),
		journalVariant("the amount is rounded after a restart", JournalBreak{
			Asked: func(asked *dapi.PayoutCreate, process, _ int) {
				if process > 1 {
					asked.Amount = asked.Amount.Round(0)
				}
			}}),
		journalVariant("a second call pays a cent more", JournalBreak{
			Asked: func(asked *dapi.PayoutCreate, _, call int) {
				if call > 1 {
					asked.Amount = asked.Amount.Add(decimal.New(1, -2))
				}
			}}),
		journalVariant("a reference is added after a restart", JournalBreak{
			Asked: func(asked *dapi.PayoutCreate, process, _ int) {
				if process > 1 {
					asked.PaymentReference = "again"
				}
			}}),
		journalVariant("the bounds are forgotten after a restart", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, process int) {
				if process > 1 {
					terms.Bounds = dapi.Bounds{}
				}
			}}),
		journalVariant("there are no bounds", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) { terms.Bounds = dapi.Bounds{} }}),
		journalVariant("each call says that it is the first", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) { terms.History = dapi.History{} }}),
		journalVariant("each call says that nothing was paid", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) { terms.History.Unpaid = true }}),
		journalVariant("neither the age of the key nor the payout is given", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) {
				terms.History.FirstUsed, terms.History.PayoutID = time.Time{}, ""
			}}),
		journalVariant("nothing is stored before a signature", JournalBreak{
			Save: func(moment string) bool { return moment != "journal" }}),
		journalVariant("nothing is ever stored", JournalBreak{
			Save: func(string) bool { return false }}),
		journalVariant("what a call has shown is not stored", JournalBreak{
			Save: func(moment string) bool { return moment != "after" }}),
		journalVariant("in doubt is taken as not paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentInDoubt {
					r.End = refused
				}
			}}),
		journalVariant("in doubt is taken as paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentInDoubt {
					r.End = completed
				}
			}}),
		journalVariant("paid is taken as completed", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentPaid {
					r.End = completed
				}
			}}),
		journalVariant("not paid is taken as ended", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentNotPaid {
					r.End = cameBack
				}
			}}),
		journalVariant("what came back is taken as completed", JournalBreak{
			After: func(r *row, _ error) {
				if r.End == cameBack {
					r.End = completed
				}
			}}),
		journalVariant("what came back is taken as never paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.End == cameBack {
					r.End = refused
				}
			}}),
		journalVariant("an error of any kind ends a payment", JournalBreak{
			After: func(r *row, err error) {
				if err != nil && r.End == "" {
					r.End = refused
				}
			}}),
		journalVariant("what another process has stored is replaced", JournalBreak{Blind: true}),
		journalVariant("Retry-After is ignored", JournalBreak{Hurry: true}),
		journalVariant("the first use and the payout are forgotten", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) {
				terms.History.FirstUsed, terms.History.PayoutID = time.Now(), ""
			}}),
	}
}

func journalVariant(name string, broken JournalBreak) variant {
	return variant{name: name, on: "dapi alone", broke: Break{Journal: broken}}
}
