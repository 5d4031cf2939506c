// Package sqlite keeps payments in one file, with nothing to install: a payments.Store on SQLite, in pure Go.
//
//	store, err := sqlite.Open(ctx, "payments.db")
//	processor, err := payments.New(store, services, payments.Config{})
//
// # What survives
//
// When Insert or Save returns, what it wrote survives the end of the process, a crash of the machine, and a loss of
// power, if the disk keeps what it has confirmed. Calls that wait at the same time share one transaction and one sync
// of the disk. Leases are in memory: with the process, they end.
//
// # Files
//
// Beside payments.db, the folder has payments.db-wal and payments.db-shm while the store is open or after a crash, and
// payments.db.lock. The four belong together. Copy a store with [Store.Backup], also while it is open: a copy of
// payments.db alone lacks the newest payments, and Open refuses it. A new file can be read by its owner alone.
//
// One process has the store at a time: for a second one, Open fails with *[InUse]. For several processes, use package
// payments/postgres. Keep the file on a disk of the machine. Network file systems can lose locks and writes. If one of
// the four files is removed or replaced while the store is open, the store pays nothing more: see *[Removed].
//
// # Damage
//
// Open checks the header, the length, the schema and the log, and refuses a damaged or foreign file with *[Damaged],
// which says how to go on. Each row has a checksum, which is compared whenever the row is read. [Store.Check] reads
// everything. So does the command, for a file that no process has open:
//
//	go run github.com/moneymovement/moneymovement-go/payments/sqlite/cmd/paymentsfile@latest check payments.db
//
// The end of the log is the one place where damage cannot be seen: a transaction that was being written when the power
// was lost looks the same as a last transaction that was damaged later, and both are dropped.
package sqlite
