// Package platform is the sandbox host's implementation of the platform API behind the generated server. It has clients
// with their verification and rails, contacts, payins and payouts with their quotes and approvals, escrows, the
// double-entry ledger, idempotency records, transactions, chains and the faucet.
//
// A [Platform] relies on the gate, which has checked the session, the acting account and the syntax of the request. It
// refuses with a [wire.Refusal].
//
// One mutex guards all state. It is never held during I/O or while a signature is verified. Time comes only from the
// host's clock. Each request first does what is due: a client becomes ready, a payout settles, an approval ends. So no
// goroutine runs between requests.
//
// # What the host decides
//
// The service's description does not say these; they are the host's own decisions:
//
//   - Fees, in the debited asset: 15.00 for swift, 5.00 for fedwire, 0.50 for every other bank method, 0.30 for a
//     cross-chain route, and nothing for a wallet on Base that expects the debited asset. Rates are fixed, with a
//     spread of 0.5 % if the currency changes.
//   - The balance of an account is checked when a payout is confirmed, not when it is booked. If it is too low, the
//     refusal is payout_not_fundable, with what is available.
//   - A payout whose approval has expired is refused with funding_attempt_expired, even if its price has expired too.
//     If only the price has expired, the refusal is quote_expired. The same create call reopens both.
//   - A replayed booking returns the first response word for word, even after the payout was funded. The confirm that
//     follows is then refused with already_funded.
//   - A contact needs exactly one of account, bank, crypto and email; otherwise the refusal is invalid_request. If the
//     holder's name is missing, the contact's name is used. The table of methods has the identifiers that a method
//     needs.
//   - fromChainId and toChainId may be left out. If given, they must be Base and the contact's chain.
//   - A direct payment to a wallet or an email of an account of this host is credited there, and does not come back.
//   - A payout that was moved by hand no longer moves by itself. A move to its present status changes nothing.
//   - A failed payout returns the money at once. A refunded payout returns it, fee included, as a separate refund.
//   - A finished payout (completed, failed, or refunded with its money back) is forgotten after the setting says, and
//     never by default. Its id is then not_found, its transactions are not listed, and its entries are part of the
//     ledger's opening sums. Its keys are known until they expire: the same terms are refused with gone, other terms
//     with idempotency_key_reused, without the id of the key's owner. A payout that nobody funded is not finished,
//     because its key reopens it.
//   - An approval may be signed with any developer key of the account that could make the request itself, not only with
//     the session's own.
//   - A confirm of a payout that failed or was refunded is refused with approval_consumed: nothing can be funded any
//     more.
//   - Verification is for clients. Without X-Service-Account it is validation_failed for that header, because the
//     integrator's own account is verified in the service's application. It needs a name (legalName or entityName of a
//     business, firstName and lastName of a person), a country and one document. It is not_started, then pending once
//     something was saved, then under_review once completed, then approved or rejected by the setting. Saving is
//     possible at any time and changes no submission. To complete changed content makes a new submission, with its own
//     review.
//   - Every bank rail needs an approved verification; the integrator's own account counts as approved. A rail that the
//     agreement does not include, or that is hidden from the client's list, is refused with rail_not_available when it
//     is opened.
//   - A payin over a virtual account costs nothing but the spread; a payin from another chain costs 0.30 of its token.
//     Euros become EURC, everything else USDC. The same terms return the same payin until its instructions were asked
//     for.
//   - A payin is completed while its price is valid and after its instructions were asked for (before that, the refusal
//     is quote_not_submitted), with the amount of its quote. A virtual account whose channel is unavailable is refused
//     with payout_not_fundable. A completed payin stays completed, whatever key is used later.
//   - An escrow is approved within its first window, released within the second, and refunded within the third. After
//     that no action is possible. The windows are fixed when the escrow is created. Any other action is a conflict. An
//     approval that the balance does not cover is a conflict too, with what is available in the details.
//   - A confirmed escrow action happens on chain at once. The escrow shows it after the next chain read. The confirm
//     itself reads the chain, unless the escrow was read in the 15 seconds before.
//   - Each approval that was issued for an escrow action can be confirmed during its own 60 seconds. The action happens
//     once; later confirms are refused with approval_consumed.
package platform
