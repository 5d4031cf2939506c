// Package platform is the sandbox host's state machine behind the generated strict server: clients, contacts, payouts
// with their quotes and approvals, the double-entry ledger, idempotency records, transactions, chains and the faucet.
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
//   - Contacts need one of account, bank, crypto and email; none or several is invalid_request. A contact's name stands in
//     for a missing holder name. The identifiers that a method routes on are in the table of methods.
//   - fromChainId and toChainId may be left out. If given, they must be Base and the contact's chain.
//   - A direct payment to a wallet or an email of an account of this host is credited there, and does not come back.
//   - A payout that was moved by hand moves by itself no more. A move to where it stands changes nothing.
//   - A failed payout puts the money back at once. A refunded one puts it back, fee included, as a refund of its own.
//   - A confirm of a payout that failed or was refunded answers approval_consumed: nothing is funded any more.
package platform
