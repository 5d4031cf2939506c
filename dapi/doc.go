// Package dapi is a client for the platform API. It creates clients, receives money for them, pays bank accounts and
// wallets, holds money in escrow, and reads the ledger.
//
// # Services
//
//   - [Clients]: create and read clients. A client is an account that an integrator creates for a customer.
//   - [Verification]: send the information and documents that the service reviews before a client can use a rail.
//   - [Rails]: open virtual accounts. A rail is a bank route, such as SEPA in euros. An open rail is a virtual account.
//     Its requisites are the account details that a payer needs to send money to it.
//   - [Payins]: receive money at a quoted price. A payin is an incoming payment whose price you ask for first. The
//     money comes to a virtual account or from another chain.
//   - [Contacts]: save contacts. A contact is a payment destination: a bank account, a wallet, or a person or business
//     with an account at the service.
//   - [Payouts]: pay a contact. A payout is any payment that leaves the account.
//   - [Escrows]: open escrow deals. A deal holds money on chain until it is released to a payee or refunded.
//   - [Transactions]: read the ledger of the account.
//   - [Chains]: list the live chains and their tokens.
//   - [Sandbox]: emulate incoming money and status changes. It works on sandbox hosts only.
//
// The glossary explains every word of the domain:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
//
// For each flow there is a page with its steps and what can go wrong:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/README.md
//
// # The two products
//
// The service has two products. They authorize payments in different ways and must not be mixed.
//
//   - Whitelabel: [NewIntegrator] is for the backend of an integrator, a company that opens accounts for its own
//     customers. The backend holds a developer key, creates clients, and signs their payments. The service co-signs.
//     Use [Integrator.For] to act for one client, and [Integrator.Self] to act for the integrator itself.
//   - Self-serve: [NewSelfServe] is for the owner of an account, who holds its only key. It has no clients.
//
// # The life of a payment
//
//	key, err := signing.LoadDeveloperKey("developer.pem")
//	platform, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key})
//	acme := platform.For("cl_8fK2")
//	payment, err := acme.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact, Amount: amount, Currency: dapi.USDC},
//		"invoice-42", dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &fee}, History: stored, Journal: store})
//	switch payment.State { ... }
//
// Money moves in three steps, and [Payouts.Pay] makes all of them:
//
//  1. Book. The service returns the payout with a quote (its price) and an approval. An approval is the text that the
//     developer key must sign before the money moves. It is valid for 120 seconds.
//  2. Check and sign. The SDK compares the booked terms, the price and every field of the approval with what you asked
//     for. It calls the signer only if all of them match. Otherwise it does not sign: see [*TermsDiffer],
//     [*PriceRefused] and *signing.ApprovalRefused.
//  3. Confirm. The SDK sends the signature, and the service funds the payout: the money leaves the account.
//
// The idempotency key, here "invoice-42", identifies the payment. If a call fails and the payment may have been
// made, call [Payouts.Pay] again with the same key and the same terms, until the payment is settled. The same key never
// pays twice while the service remembers it, which is 7 days.
//
// A refusal is about one call, and a payment can take many calls. If the response to the first call was lost, the
// payment stays in doubt, even if the second call is refused. Only a success, the slug already_funded, or the final
// status of the payout settles it. (A slug is the code of a refusal.) [Payment].State is the state of the payment over
// all its calls, and [Payment].Unpaid is true only if it is proven that none of them has paid or can still pay.
//
// To know that after a restart, store the [History] of each key. [PayTerms].Journal gets it before each signature, and
// Payment.History is the one at the end of the call. Pass it with the next call. With Journal, a key of which your
// store knows nothing was never used. Without Journal, Pay assumes that an earlier call may have paid. Package payments
// does all this, and survives crashes.
//
// # Amounts, times and ids
//
// Amounts are exact decimals (github.com/shopspring/decimal) in units of their currency: 25.5 is 25.50 USDC, and never
// cents. The comment of each amount names the field with its currency. Times from the service are in UTC. A time that
// you pass can be in any zone, and the SDK sends it in UTC. A zero time means that the service did not send one.
//
// Each kind of id has its own type. A client's id begins with "cl_", a virtual account's with "bnk_" and a payout's
// with "po_". A contact's id can begin with "ct_". The service's description does not show the form of other ids: store
// them as text.
//
// # Many payments
//
// Start any number of payments at once, each in its own goroutine. You need no limit of your own. The payments queue
// before they are booked, in the order of the calls to Pay. At most 108 payouts and 6 escrow deals are between booking
// and confirm at the same time, so each confirm can be sent before its approval expires. A payment takes two of the 120
// writes that the service allows in a minute. So ten thousand payments take at least 2 hours and 48 minutes. If the
// turn of a payment would come after the deadline of its context, the call fails at once and books nothing.
//
// # Waiting
//
// The service sends no events, so a wait polls: [Clients.WaitReady], [Verification.WaitDecided], [Rails.WaitActive],
// [Payins.Wait], [Payouts.Wait] and [Escrows.Wait]. [Payouts.WaitAll] follows many payouts. A wait ends when the
// resource reaches the status, when it can no longer reach it, or when ctx ends. If ctx ends first, the error is
// [*moneymovement.StillPending].
//
// # Credentials
//
// The first call logs in: the service sends a challenge, the developer key signs it, and the service returns an access
// token and a refresh token. All goroutines share the session.
//
//   - An access token is valid for 60 minutes. The SDK renews it 90 seconds before it expires. It renews a token with a
//     short lifetime in the last quarter of that time. The renewal goes ahead of all other calls.
//   - If the service refuses a call with token_expired, the SDK refreshes the token once and sends the call once more.
//   - If the service refuses the refresh token, the SDK logs in again, once.
//   - A [TokenStore] keeps the session for other processes and for the next start of the program.
//   - [Integrator.UseKey] changes to another developer key of the account while calls are running.
//
// The same key signs challenges and approvals, and the service chooses the bytes of both. So the SDK never signs a
// challenge that has the form of an approval, or that the service has sent as an approval before. The error is
// *signing.ChallengeRefused. If you set [Developer].ChallengeVerifier, it decides. Set it if the service uses its own
// format of approvals, because the SDK cannot recognize those.
//
// # Errors
//
// Calls return the types of package errors. If the service refuses a call, the slug decides the type, such as
// *errors.NotFound. If the SDK refuses the input before it sends anything, the error is *errors.InvalidInput. If the
// response to a write was lost, it is *errors.InDoubt. This package adds its own errors. All errors have the
// methods Retryable and MovedByCall.
//
//   - This call paid nothing: *signing.ApprovalRefused, [*TermsDiffer], [*PriceRefused], [*PaymentDeclined],
//     [*KeyTooOld], *signing.ChallengeRefused.
//   - The wait ended before the resource reached the status: [*moneymovement.StillPending].
//   - The resource cannot reach the status any more: [*PayoutNotCompleted], [*PayinNotCompleted],
//     [*ChannelUnavailable], [*RailNotListed].
//   - The deal expired, and its money was never held: [*EscrowNotOpened].
//
// # Compatibility with the service
//
// Types with a list of values, such as [PayoutStatus], are open. A value that this version does not know, such as a new
// status, is decoded and sent unchanged. JSON fields that this version does not know are in
// [moneymovement.Response].Body.
//
// The service's description is not complete. In particular, it does not show most statuses and fields of clients,
// rails, payins, payouts, deals and ledger entries. The SDK assumes them, and openapi/README.md lists each assumption.
// Before it sends a request, the SDK checks the rules that the description states, and the fields that it later
// compares with an approval. Everything else is for the service to check. A response that differs from an assumption is
// still decoded: see "Responses that differ" in package moneymovement. Where money moves, the SDK relies first on what
// the description states: slugs, the replay of a key, the hash of a transaction, and the available actions of a deal.
// The assumed name of a status counts only after these.
//
// # Sandbox
//
// On a sandbox host, [Account].Sandbox emulates incoming money and status changes. Package sandbox has such a host for
// your tests.
package dapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/dapi.yaml -o api.gen.go ../openapi/dapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/dapi.yaml -package dapi
//go:generate ../internal/tools/run requests -spec ../openapi/dapi.yaml
//go:generate ../internal/tools/run coverage ../openapi/coverage.yaml api.gen.go coverage.gen.go
//go:generate ../internal/tools/run states -spec ../openapi/dapi.yaml -package dapi -o states.gen.go
//go:generate ../internal/tools/run readable -unexport ApprovalConfirm,Challenge,ChallengeRequest,EscrowActionCreate,PayoutStatusUpdate,PreparedEscrowAction,RefreshRequest,TokenGrant,TokenRequest .
