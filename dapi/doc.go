// Package dapi is the platform API for integrators: clients and their verification, rails and virtual accounts, payins,
// contacts, payouts, escrow, the ledger and the chains, and the sandbox.
//
// There are two products, which authorize money differently and do not mix. [NewIntegrator] is for an integrator's
// backend, which holds a developer key, creates clients, and signs for them; the service co-signs. [NewSelfServe] is
// for the owner of an account, who holds its only key.
//
//	key, err := signing.LoadDeveloperKey("developer.pem")
//	platform, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key})
//	acme := platform.For("cl_8fK2")
//	payout, err := acme.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact, Amount: amount, Currency: dapi.USDC},
//		"invoice-42", dapi.MaxFee(fee))
//	switch dapi.PaymentStateOf(payout, err) { ... }
//
// # Session
//
// The first call logs in: the service answers a challenge, the developer key signs it, and a token comes back. Access
// tokens live 60 minutes and are renewed 90 seconds before they expire, or in the last quarter of a shorter life, ahead
// of all other calls; if the service says token_expired all the same, the token is refreshed once and the call sent
// once more. A refused refresh leads to one fresh login. All goroutines share one renewal. A [TokenStore] hands the
// session to another process. [Integrator.UseKey] changes over to another developer key of the account while calls are
// under way.
//
// The bytes of a challenge are the service's to choose, and the same key signs approvals: what reads as an approval, or
// was one, is not signed, and the error is *signing.ChallengeRefused. [Developer].ChallengeVerifier can allow or refuse
// more. An opaque approval cannot be told from an opaque challenge.
//
// # Money
//
// Money moves by prepare, sign, confirm. Before the key signs, what the service booked is compared with what the caller
// asked for: its terms ([*TermsDiffer]), its price ([*PriceRefused]), and every field of the approval
// (*signing.ApprovalRefused). On any difference the signer is not called.
//
// A payment is more than a call. Its idempotency key says which payment is meant, and [Payouts.Pay] can be called with
// it until the payment is settled. A refusal speaks for its call; only success, already funded, or the payout's own end
// settles a payment that was in doubt. What is known over all calls is what [PaymentStateOf] returns.
//
// # Many payments at once
//
// Start as many payments as there are, each in a goroutine of its own; no limit of the caller's is needed. They wait in
// line before they are booked, in the order in which they came, and no more are between booking and confirm than can be
// confirmed before their approvals close: 108 payouts and 6 deals. Each takes two of the 120 writes a minute, so that
// ten thousand take 2 hours and 48 minutes. [Payouts.WaitAll] then follows them to their ends. A payment whose turn
// would come after its context's deadline is told so at once, before it is booked.
//
// # Errors
//
// All calls return the types of package errors: a refusal as its slug's type, *errors.InvalidInput for what is refused
// before anything is sent, *errors.OutcomeUnknown for a write whose answer was lost. Flows add types of their own,
// which can be asked the same questions. After *signing.ApprovalRefused, [*TermsDiffer], [*PriceRefused],
// [*PaymentDeclined] and *signing.ChallengeRefused nothing was signed by this call, and after [*KeyTooOld] nothing was
// sent; a wait ends in [*StillPending] if its context does, and in [*PayoutNotCompleted], [*PayinNotCompleted],
// [*ChannelUnavailable] or [*RailNotListed] if what it waits for cannot come; [*EscrowNotOpened] is a deal whose money
// was never held.
//
// # What the service may change
//
// Enumerations are open: a value that this version does not know, such as a new status, arrives as it came, and is sent
// as it is. Members that this version does not know are in [moneymovement.Response].Body. The service's description
// leaves things open, above all the states and most fields of clients, rails, payins, payouts, deals and ledger
// entries; openapi/README.md lists each thing that is assumed in their place. A request is refused here for what is
// stated, and for what an approval is compared with before it is signed; what is assumed is sent, and the service
// judges it. An answer that differs from what is assumed is read all the same: see package moneymovement, Answers that
// differ. Where money moves, what is stated decides before the words of a status do: slugs, the replay of a key, a
// transaction's hash, what can be done with a deal.
//
// # Sandbox
//
// Against a sandbox host, [Account].Sandbox emulates credits and lifecycle events. Package sandbox is such a host, to
// run tests against.
package dapi
