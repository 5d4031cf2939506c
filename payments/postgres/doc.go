// Package postgres keeps payments in PostgreSQL, for any number of processes. It implements [payments.Store].
//
//	err := postgres.Migrate(ctx, pool, "payments")                 // once, or at each start
//	store, err := postgres.Open(ctx, pool, postgres.Options{Schema: "payments"})
//	processor, err := payments.New(store, services, payments.Config{})
//	summary, err := processor.Resume(ctx)                          // in processes that pay
//
// # Your own transaction
//
// [Store.SubmitTx] stores a payment in a transaction of yours: your row and the payment are committed together, or
// neither is.
//
//	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
//		if _, err := tx.Exec(ctx, "UPDATE invoices SET approved = true WHERE id = $1", id); err != nil {
//			return err
//		}
//		_, err := store.SubmitTx(ctx, tx, nil, payment)
//		return err
//	})
//
// # How processes share the work
//
// The payments table is the truth: it has the state of each payment, when it is due, and the lease of the process that
// works on it. A lease ends by the database's clock. Each claim of a row raises the epoch of its lease, and each write
// names the epoch: a process that was too slow writes nothing any more, and so signs nothing. When a process has died,
// the others take its payments over as soon as the leases have ended, at their next poll (see payments.Config).
//
// # River
//
// With [Options.Jobs], each payment has a job of River (github.com/riverqueue/river), which is inserted in the same
// transaction. A job is a wake-up and no more: [Worker] wakes the processor of its process, which then claims due work
// in turns. So the turns of the accounts, the limit of calls under way and the pauses are those of the processor, and
// no order of jobs can break them. The job then snoozes until the payment is due again, and completes when nothing is
// left to do. Jobs that are deleted, stuck, or held back by a paused queue delay a payment by at most one poll of the
// processor. To stop paying, stop the processors.
//
//	store, err := postgres.Open(ctx, pool, postgres.Options{Jobs: &postgres.Jobs{}})
//	processor, err := payments.New(store, services, payments.Config{})
//	river.AddWorker(workers, postgres.NewWorker(store, processor)) // before river.NewClient
//	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Workers: workers,
//		Queues: map[string]river.QueueConfig{postgres.DefaultQueue: {MaxWorkers: 10}}}) // beside your own queues
//
// The worker goes into your own river.Workers, the queue has a name of your choice, and River's tables are migrated by
// you, or by [MigrateRiver]. At the end, stop the client and the processor, in any order, and then close the pool.
//
// # Rights and poolers
//
// [Migrate] needs the right to create in the schema, and to create the schema if it is missing; with nothing to do, it
// needs neither. [Open] checks the rights of the role that pays, and names the first that is missing in a
// *[RightMissing]. The rights of each role, and what a pooler of connections needs:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/production.md#roles-and-poolers-of-postgresql
//
// # PostgreSQL
//
// Version 13 or later; the tests run on 15. The pool stays yours: the store never closes it. Writes that must survive a
// crash wait for the disk, also if synchronous_commit is off for the role or the database.
//
// A change becomes visible to Processor.Watch when all transactions that began to write before it have ended, in all
// databases of the server. So a transaction that is open for long delays Watch. It does not delay payments.
package postgres
