// Package dapi is a client for the platform API: [NewIntegrator] or [NewSelfServe] makes it, and [Payouts.Pay] pays.
//
//	key, err := signing.LoadDeveloperKey("developer.pem")
//	platform, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key})
//	acme := platform.For("cl_8fK2")
//	payment, err := acme.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact, Amount: amount, Currency: dapi.USDC},
//		"invoice-42", dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &fee}, History: stored, Journal: store})
//	switch payment.State {
//	case moneymovement.PaymentPaid:          // the money has left or is leaving: err is nil
//	case moneymovement.PaymentNotPaid:       // err says why; the same call may pay later
//	case moneymovement.PaymentNeedsDecision: // a person looks at err
//	case moneymovement.PaymentEnded:         // to pay, use a new key
//	default:                                 // in doubt: later, call Pay again with the same key and terms
//	}
//
// The idempotency key, here "invoice-42", identifies the payment: with the same key and the same terms, Pay never pays
// twice within 7 days. Package payments calls Pay until a payment is settled, and survives crashes.
//
// # Services
//
// The service has two products, which must not be mixed. [NewIntegrator] is for the backend of an integrator
// (whitelabel), a company that opens accounts for its own customers: it creates clients and signs for them, and the
// service co-signs. [NewSelfServe] is for the owner of an account, who holds its only key. Both have these services:
//
//   - [Clients]: create and read clients (integrators only).
//   - [Verification]: send what the service reviews before a client can use a rail (integrators only).
//   - [Rails]: open virtual accounts (integrators only).
//   - [Payins]: receive money at a quoted price, in a virtual account or from another chain.
//   - [Contacts]: save payment destinations: a bank account, a wallet, or somebody with an account at the service.
//   - [Payouts]: pay a contact.
//   - [Escrows]: hold money on chain until it is released to a payee or refunded.
//   - [Transactions]: read the ledger.
//   - [Chains]: list the live chains and their tokens.
//   - [Sandbox]: emulate incoming money, on sandbox hosts only. Package sandbox is such a host for your tests.
//
// The [glossary] explains the words, and each flow has a [page] with its steps and what can go wrong.
//
// # How a payment is made
//
//  1. Book. The service returns the payout with a quote (its price) and an approval: the text that the developer key
//     must sign within 120 seconds before the money moves.
//  2. Check and sign. The SDK compares the booked terms, the price and every field of the approval with what you asked
//     for. It signs only if all of them match: see [*TermsDiffer], [*PriceRefused] and *signing.ApprovalRefused.
//  3. Confirm. The SDK sends the signature, and the service funds the payout: the money leaves the account.
//
// A refusal is about one call, and a payment can take many. Once the response to a call was lost, the payment
// stays in doubt, even if the next call is refused, until it succeeds, already_funded is returned, or the payout has
// ended. [Payment].State speaks for all calls with the key. To know it after a restart, store the [History] of each
// key: [PayTerms].Journal gets it before each signature, and [Payment].History is the last one.
//
// # Amounts, times and ids
//
// Amounts are exact decimals (github.com/shopspring/decimal) in units of their currency: 25.5 is 25.50 USDC, never
// cents. Times from the service are in UTC, and a zero time means that it sent none. A time that you pass can be in any
// zone. Each kind of id has its own type. The form of ids without a stated prefix is not shown: store them as text.
//
// # Waiting
//
// The service sends no events, so waits poll: [Payouts.Wait], [Payouts.WaitAll] and others. A wait ends when the
// resource has the status, when it can no longer get it, or with [*moneymovement.StillPending] when ctx ends.
//
// # Errors
//
// Calls return the types of package errors: that of the service's slug, such as *errors.NotFound, *errors.InvalidInput
// for input that was not sent, and *errors.InDoubt for a write whose response was lost. This package adds
// [*TermsDiffer], [*PriceRefused], [*PaymentDeclined] and [*KeyTooOld], with which this call paid nothing, and
// [*PayoutNotCompleted], [*PayinNotCompleted], [*EscrowNotOpened], [*ChannelUnavailable] and [*RailNotListed], with
// which a resource cannot get the status that was waited for. All have the methods Retryable and MovedByCall.
//
// # Compatibility with the service
//
// Types with a list of values, such as [PayoutStatus], are open: an unknown value is decoded and sent unchanged.
// Unknown JSON fields are in [moneymovement.Response].Body. The service's description does not show most statuses and
// fields of clients, rails, payins, payouts, escrows and ledger entries. The SDK assumes them: openapi/README.md lists
// each assumption, and "Responses that differ" in package moneymovement says what happens if one is wrong. Where money
// moves, the SDK relies first on what is stated: slugs, the replay of a key, the hash of a transaction, and the
// available actions of an escrow.
//
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
// [page]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/README.md
package dapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/dapi.yaml -o api.gen.go ../openapi/dapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run responses -spec ../openapi/dapi.yaml -package dapi
//go:generate ../internal/tools/run requests -spec ../openapi/dapi.yaml
//go:generate ../internal/tools/run coverage ../openapi/coverage.yaml coverage.gen.go
//go:generate ../internal/tools/run states -spec ../openapi/dapi.yaml -package dapi -o states.gen.go
//go:generate ../internal/tools/run readable -unexport ApprovalConfirm,Challenge,ChallengeRequest,EscrowActionCreate,PayoutStatusUpdate,PreparedEscrowAction,RefreshRequest,TokenGrant,TokenRequest -rename BankAccount=BankFields,AssetUSDC=USDC,AssetEURC=EURC .
