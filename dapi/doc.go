// Package dapi is the client of the platform API. It creates clients, receives money for them, pays bank accounts and
// wallets, holds money in escrow, and reads the ledger.
//
// # Services
//
//   - [Clients]: create and read clients. A client is an account that an integrator creates for a customer.
//   - [Verification]: send the information and documents that the service reviews before a client can use a rail.
//   - [Rails]: open virtual accounts. A rail is a bank route, such as SEPA in euro. An opened rail is a virtual
//     account. Its requisites are the account details that a payer needs to wire money.
//   - [Payins]: receive money at a quoted price. A payin is an incoming payment that is quoted first, over a virtual
//     account or from another chain.
//   - [Contacts]: save contacts. A contact is a payment destination: a bank account, a wallet, or an account of the
//     service.
//   - [Payouts]: pay a contact. A payout is any payment that leaves the account.
//   - [Escrows]: open escrow deals. A deal holds money on chain until it is released to a payee or refunded.
//   - [Transactions]: read the ledger of the account.
//   - [Chains]: list the live chains and their tokens.
//   - [Sandbox]: emulate credits and status changes, on a sandbox host only.
//
// The glossary explains every word of the domain:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
//
// # The two products
//
// The service has two products. They authorize money in different ways and must not be mixed.
//
//   - Whitelabel: [NewIntegrator] is for the backend of an integrator. The backend holds a developer key, creates
//     clients, and signs their payments. The service co-signs. [Integrator.For] acts for one client, and
//     [Integrator.Self] for the integrator itself.
//   - Self-serve: [NewSelfServe] is for the owner of an account, who holds its only key. It has no clients.
//
// # The life of a payment
//
//	key, err := signing.LoadDeveloperKey("developer.pem")
//	platform, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key})
//	acme := platform.For("cl_8fK2")
//	payout, err := acme.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact, Amount: amount, Currency: dapi.USDC},
//		"invoice-42", dapi.MaxFee(fee))
//	switch dapi.PaymentStateOf(payout, err) { ... }
//
// Money moves in three steps, and [Payouts.Pay] makes all of them:
//
//  1. Book. The service returns the payout with a quote (its price) and an approval. An approval is the text that the
//     developer key has to sign before the money moves. It is open for 120 seconds.
//  2. Check and sign. The SDK compares the booked terms ([*TermsDiffer]), the price ([*PriceRefused]) and every field
//     of the approval (*signing.ApprovalRefused) with what you asked for. It calls the signer only if all of them
//     match.
//  3. Confirm. The SDK sends the signature, and the service funds the payout.
//
// The idempotency key, "invoice-42" here, says which payment is meant. If a call fails and the payment may have been
// made, call [Payouts.Pay] again with the same key and the same terms, until the payment is settled. The same key never
// pays twice while the service remembers it, which is 7 days.
//
// A refusal is about one call, and a payment can take many calls. If the response to the first call was lost, the
// payment stays in doubt, even if the second call is refused. Only a success, the slug already_funded, or the final
// status of the payout settles it. (A slug is the code of a refusal.) [PaymentStateOf] reports where the payment stands
// over all its calls.
//
// # Many payments
//
// Start any number of payments at once, each in its own goroutine. You need no limit of your own. The payments queue
// before they are booked, in the order of the calls to Pay. At most 108 payouts and 6 escrow deals are between booking
// and confirm at the same time, so that each confirm can be sent before its approval closes. A payment takes two of the
// 120 writes that the service allows in a minute: ten thousand payments take 2 hours and 48 minutes. A payment whose
// turn would come after its context's deadline fails at once, before it is booked.
//
// # Waiting
//
// The service sends no events, so a wait polls: [Clients.WaitReady], [Verification.WaitDecided], [Rails.WaitActive],
// [Payins.Wait], [Payouts.Wait] and [Escrows.Wait]. [Payouts.WaitAll] follows many payouts. A wait ends when the
// resource reaches the status, when it no longer can, or when ctx ends. If ctx ends first, the error is
// [*StillPending].
//
// # Credentials
//
// The first call logs in: the service sends a challenge, the developer key signs it, and the service returns an access
// token and a refresh token. All goroutines share the session.
//
//   - An access token lives 60 minutes. The SDK renews it 90 seconds before it expires, or in the last quarter of a
//     shorter life. The renewal goes ahead of all other calls.
//   - If the service refuses a call with token_expired, the SDK refreshes the token once and sends the call once more.
//   - If the service refuses the refresh token, the SDK logs in again, once.
//   - A [TokenStore] passes the session to another process or to the next start.
//   - [Integrator.UseKey] changes to another developer key of the account while calls are running.
//
// The service chooses the bytes of a challenge, and the same key signs approvals. The SDK therefore never signs a
// challenge that reads as an approval, or that the service sent as an approval before. The error is
// *signing.ChallengeRefused. [Developer].ChallengeVerifier can allow or refuse more. The SDK cannot tell an approval
// that it cannot read from a challenge that it cannot read.
//
// # Errors
//
// Calls return the types of package errors: the type of the slug if the service refused, *errors.InvalidInput if the
// SDK refused the input before it sent anything, and *errors.OutcomeUnknown if the response to a write was lost. This
// package adds errors of its own. They answer the same questions: Retryable and MovedByCall.
//
//   - This call signed nothing: *signing.ApprovalRefused, [*TermsDiffer], [*PriceRefused], [*PaymentDeclined],
//     [*KeyTooOld], *signing.ChallengeRefused.
//   - The wait ended before the resource reached the status: [*StillPending].
//   - The resource cannot reach the status any more: [*PayoutNotCompleted], [*PayinNotCompleted],
//     [*ChannelUnavailable], [*RailNotListed].
//   - The deal expired, and its money was never held: [*EscrowNotOpened].
//
// # Compatibility with the service
//
// Enumerations are open. A value that this version does not know, such as a new status, is decoded as it is and sent as
// it is. Members that this version does not know are in [moneymovement.Response].Body.
//
// The service's description does not state everything, above all not the statuses and most fields of clients, rails,
// payins, payouts, deals and ledger entries. openapi/README.md lists each assumption that fills a gap. The SDK checks a
// request only for what is stated, and for what it later compares with an approval. It sends everything else, and the
// service decides. A response that differs from an assumption is still decoded: see "Answers that differ" in package
// moneymovement. Where money moves, stated facts decide before the word of a status: slugs, the replay of a key, a
// transaction's hash, and the available actions of a deal.
//
// # Sandbox
//
// Against a sandbox host, [Account].Sandbox emulates credits and status changes. Package sandbox is such a host, for
// your tests.
package dapi
