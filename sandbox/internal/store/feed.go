package store

// Feed stores the changes of records of one kind that their part holds itself, in an order or by its own key. A record
// may be changed in place. Put it again after that.
type Feed[N Named] struct {
	keeper *Keeper
	kind   string
}

// Follow returns the feed of a kind. It calls a function with each record as it was last committed, in the order in
// which the records were first put. It panics if the store cannot be read.
func Follow[R any, N interface {
	*R
	Named
}](k *Keeper, kind string, show func(record N)) *Feed[N] {
	load(k, kind, func(_ string, record *R) { show(record) })
	return &Feed[N]{k, kind}
}

// Put stores a new or changed record.
func (f *Feed[N]) Put(record N) {
	f.keeper.changes = append(f.keeper.changes, Change{Kind: f.kind, Record: record, named: record})
}

// Delete deletes a record.
func (f *Feed[N]) Delete(record N) {
	f.keeper.changes = append(f.keeper.changes, Gone(f.kind, record.RecordID()))
}

// Clear deletes every record.
func (f *Feed[N]) Clear() { f.keeper.changes = append(f.keeper.changes, Gone(f.kind, "")) }
