package store

// Feed hands on what changes in the records of one kind, which their part holds itself: in an order, or by a key of its
// own. A record may be changed in place, and is then put again.
type Feed[N Named] struct {
	keeper *Keeper
	kind   string
}

// Follow returns the feed of a kind, and shows each record as it was last committed, in the order in which they were
// first put. It panics if the store cannot be read.
func Follow[R any, N interface {
	*R
	Named
}](k *Keeper, kind string, show func(record N)) *Feed[N] {
	load(k, kind, func(_ string, record *R) { show(record) })
	return &Feed[N]{k, kind}
}

// Put keeps a record that is new or changed.
func (f *Feed[N]) Put(record N) {
	f.keeper.changes = append(f.keeper.changes, Change{Kind: f.kind, Record: record, named: record})
}

// Delete forgets a record.
func (f *Feed[N]) Delete(record N) {
	f.keeper.changes = append(f.keeper.changes, Gone(f.kind, record.RecordID()))
}

// Clear forgets every record.
func (f *Feed[N]) Clear() { f.keeper.changes = append(f.keeper.changes, Gone(f.kind, "")) }
