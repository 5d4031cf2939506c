// Package platform is the sandbox host's state machine behind the generated server: clients with their
// verification and rails, contacts, payins and payouts with their quotes and approvals, escrow deals, the double-entry
// ledger, idempotency records, transactions, chains and the faucet.
//
// A [Platform] trusts its caller: the gate in front of it has read the session, the acting account and the request's
// syntax. What it refuses, it refuses with a [refuse.Refusal].
//
// All state lives behind one mutex, which is never held during I/O or signature verification. Time comes from the
// host's clock alone: whatever is due (a client that becomes ready, a payout that settles, an approval that closes) is
// brought up to date at the start of each request, so that no goroutine runs between requests.
//
// # What the host decides
//
// The service description leaves these open; they are the host's, not the service's:
//
//   - Fees, in the debited asset: 15.00 for swift, 5.00 for fedwire, 0.50 for every other bank method, 0.30 for a
//     cross-chain route, nothing for a wallet on Base that expects the debited asset. Rates are fixed, with a spread of
//     0.5 % whenever the currency changes.
//   - The balance of an account is checked when a payout is confirmed, not when it is booked; too little answers
//     payout_not_fundable with what is available.
//   - A payout that has left its approval window answers funding_attempt_expired, also when its price has expired with
//     it; quote_expired is answered while only the price is too old. The same create call reopens both.
//   - A replayed booking answers the first answer word for word, also after the payout was funded; the confirm that
//     follows then answers already_funded.
//   - Contacts need one of account, bank, crypto and email; none or several is invalid_request. A contact's name stands
//     in for a missing holder name. The identifiers that a method routes on are in the table of methods.
//   - fromChainId and toChainId may be left out. If given, they must be Base and the contact's chain.
//   - A direct payment to a wallet or an email of an account of this host is credited there, and does not come back.
//   - A payout that was moved by hand moves by itself no more. A move to where it stands changes nothing.
//   - A failed payout puts the money back at once. A refunded one puts it back, fee included, as a refund of its own.
//   - A finished payout (completed, failed, or refunded with its money back) is forgotten after the setting says, never
//     by default. Its id is not_found then, its transactions are not listed, and its entries are part of the ledger's
//     opening sums. Its keys are known until they expire: the same terms are gone, other terms idempotency_key_reused
//     without the id of who owns the key. A payout that nobody funded is not finished, since its key reopens it.
//   - An approval may be signed with any developer key of the account that could make the request itself, not only with
//     the session's own.
//   - A confirm of a payout that failed or was refunded answers approval_consumed: nothing is funded any more.
//   - Verification acts for a client; without X-Service-Account it is validation_failed for that header, because the
//     integrator's own account is verified in the service's application. It needs a name (legalName or entityName of a
//     business, firstName and lastName of a person), a country and one document. It is not_started, pending once
//     something was saved, under_review once completed, then approved or rejected by the setting. Saving is possible at
//     any time and changes no submission; completing changed content is a new submission with a review of its own.
//   - Every bank rail needs an approved verification; the integrator's own account counts as approved. A rail outside
//     the agreement, and one that is hidden from the client's list, answers rail_not_available when it is opened.
//   - A payin over a virtual account costs nothing but the spread, one from another chain 0.30 of its token. Euros
//     become EURC, everything else USDC. The same terms answer the same payin until its instructions were asked for.
//   - A payin is completed within its price's window and after its instructions were asked for (quote_not_submitted
//     before), for what its quote says. A virtual account whose channel is unavailable answers payout_not_fundable. A
//     payin that is completed stays completed, whatever key asks again.
//   - An escrow deal is approved within its first window, released within the second, and refunded within the third;
//     after that nothing can be done with it. Its windows are fixed when it is created. Any other action is a conflict,
//     and so is an approval that the balance does not cover, with what is available in the details.
//   - A confirmed escrow action happens on chain at once. The deal shows it from the next chain read on, which the
//     confirm itself makes unless the deal was read in the 15 seconds before.
//   - Every approval that was issued for an escrow action can be confirmed while its own 60 seconds last; the action
//     happens once, and is approval_consumed from then on.
package platform
