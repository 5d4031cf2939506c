// Package payments makes payments that outlive the process: submit a payment, and it is made once, even if the process
// dies or a response is lost.
//
// Use it in a backend that pays. A call such as dapi.Payouts.Pay is safe to repeat, but somebody must repeat it after a
// crash: with the same key, the same terms and the same bounds of the price, and before the service forgets the key. A
// [Processor] does that. It stores each payment before anything is sent, and each step before it has an effect.
// dapi.Payouts.Pay alone is enough for a script that a person watches, and for a program whose own database must keep
// the payments.
//
//	store, err := sqlite.Open(ctx, "payments.db")
//	p, err := payments.New(store, payments.IntegratorServices(platform), payments.Config{})
//	summary, err := p.Resume(ctx) // goes on with what an earlier process left
//	defer p.Stop(context.Background())
//
//	record, err := p.Submit(ctx, payments.Payment{
//		Key:     moneymovement.DeriveKey("invoice", "42", "1"),
//		Account: "cl_8fK2",
//		Payout:  dapi.PayoutCreate{ContactID: "ct_3dR9", Amount: amount, Currency: dapi.USDC},
//		Bounds:  dapi.Bounds{MaxFee: &fee},
//	})
//	record, err = p.Await(ctx, record.Key) // completed, refused, came_back or needs_decision
//
// # States
//
// The state of a payment is a [moneymovement.PaymentState]:
//
//   - accepted: Submit has stored it;
//   - paying: a call is being made for it;
//   - in doubt: it may be paid, and the processor finds out;
//   - paid: the money has left; completed: it has arrived;
//   - refused: nothing was paid; came back: the money was returned;
//   - needs decision: a person must look at it. [Record.Reason] says why, and [Processor.Decide] takes the decision.
//
// # What is stored when
//
// Submit stores the payment. Before each call that pays, the processor stores that the call was begun. Before it signs,
// it stores the payout's id and that money may leave. After the call it stores the result. So after a crash, the record
// never says less than what may have happened.
//
// Only the service settles a payment from which money may have left. Within the 7 days in which the service remembers a
// key, the processor repeats the call with it. Later it reads the payout itself and the ledger. If neither has the
// payment, a person decides.
//
// A key is never sent when it could pay twice. If the service has forgotten it, the processor signs only the payout or
// the escrow that is stored. A transfer in doubt is searched for, and not sent again.
//
// The store may be an older copy of itself, such as a backup. A payment that has not changed for a while, or that a
// person decided, is therefore searched for before it is paid, and before a deadline refuses it. After a restore, call
// [Processor.MarkRestored]: payments that are submitted again are then searched for as well.
//
// # Stores
//
// A [Store] keeps the payments. The program names its engine:
//
//   - module payments/sqlite: one file on one machine, with nothing to install;
//   - module payments/postgres: PostgreSQL, for any number of processes, with River for the queue;
//   - [NewMemoryStore]: for tests.
//
// Several processes can share a store: each payment is leased to one of them. If it dies, another one goes on when the
// lease has ended. The lease is checked again before a payment is signed.
//
// # Many payments
//
// The processor makes as many payments at the same time as the rate windows carry. New payments are begun in turns: one
// for each account. If the service says when to retry, no call is made before that time. The windows and the session of
// a credential can be shared between processes: see packages fleet/redis and payments/postgres/fleetpostgres.
//
// # In production
//
// Which process does what, what each state needs, the daily reconciliation, alerts and backups:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/production.md
package payments
