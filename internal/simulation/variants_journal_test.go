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
			Terms: func(terms *dapi.PayoutCreate, process, _ int) {
				if process > 1 {
					terms.Amount = terms.Amount.Round(0)
				}
			}}),
		journalVariant("a second call pays a cent more", JournalBreak{
			Terms: func(terms *dapi.PayoutCreate, _, call int) {
				if call > 1 {
					terms.Amount = terms.Amount.Add(decimal.New(1, -2))
				}
			}}),
		journalVariant("a reference is added after a restart", JournalBreak{
			Terms: func(terms *dapi.PayoutCreate, process, _ int) {
				if process > 1 {
					terms.PaymentReference = "again"
				}
			}}),
		journalVariant("the bounds are forgotten after a restart", JournalBreak{
			Options: func(_ *row, process int, history, hook dapi.PayOption, bounds []dapi.PayOption) []dapi.PayOption {
				if process > 1 {
					bounds = nil
				}
				return append([]dapi.PayOption{history, hook}, bounds...)
			}}),
		journalVariant("there are no bounds", JournalBreak{
			Options: func(_ *row, _ int, history, hook dapi.PayOption, _ []dapi.PayOption) []dapi.PayOption {
				return []dapi.PayOption{history, hook}
			}}),
		journalVariant("each call says that it is the first", JournalBreak{
			Options: func(r *row, _ int, _, hook dapi.PayOption, bounds []dapi.PayOption) []dapi.PayOption {
				return append([]dapi.PayOption{dapi.FirstUse(), hook}, bounds...)
			}}),
		journalVariant("the age of the key is not given", JournalBreak{
			Options: func(r *row, _ int, _, hook dapi.PayOption, bounds []dapi.PayOption) []dapi.PayOption {
				return append([]dapi.PayOption{hook}, bounds...)
			}}),
		journalVariant("nothing is stored before a call", JournalBreak{
			Save: func(moment string) bool { return moment != "before" && moment != "booked" }}),
		journalVariant("nothing is ever stored", JournalBreak{
			Save: func(string) bool { return false }}),
		journalVariant("what a call has shown is not stored", JournalBreak{
			Save: func(moment string) bool { return moment != "after" }}),
		journalVariant("unknown is taken as not paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == dapi.PaymentUnknown {
					r.End = refused
				}
			}}),
		journalVariant("unknown is taken as paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == dapi.PaymentUnknown {
					r.End = completed
				}
			}}),
		journalVariant("paid is taken as completed", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == dapi.PaymentPaid {
					r.End = completed
				}
			}}),
		journalVariant("not paid is taken as ended", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == dapi.PaymentNotPaid {
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
		journalVariant("Retry-After is ignored", JournalBreak{Hurry: true}),
		journalVariant("the first use is forgotten", JournalBreak{
			After: func(r *row, _ error) { r.FirstUsed = time.Now() },
			Options: func(_ *row, _ int, _, hook dapi.PayOption, bounds []dapi.PayOption) []dapi.PayOption {
				return append([]dapi.PayOption{dapi.FirstUsedAt(time.Now()), hook}, bounds...)
			}}),
	}
}

func journalVariant(name string, broken JournalBreak) variant {
	return variant{name: name, on: "dapi alone", broke: Break{Journal: broken}}
}
