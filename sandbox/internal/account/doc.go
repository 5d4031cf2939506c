// Package account is the part of the host that an app uses for its owner's account: profile and verification, contacts,
// rails and quotes, transfers and their history. Documents, invoices, contracts and cards are in other packages.
//
// An app acts for an integrator's own account. The platform API uses the same account without X-Service-Account: one
// balance, one ledger, the same rails and payins. Money moves only through [platform.OwnAccount]. Like package
// platform, this package relies on the checks of the gate. One mutex guards its state, and it is never held during I/O.
// Time comes from the host's clock.
//
// # What the host decides
//
// The service's description does not say these; they are the host's own decisions:
//
//   - Contacts, quotes and profile belong to the account; transfers belong to the app. The list of transactions is the
//     whole ledger of the account, with what the platform API did. Its types are bank methods, crypto, internal and
//     refund.
//   - Contacts with the same account details are one contact of the account. An email must name an existing account of
//     the service; otherwise the contact is not_found. A contact whose address no route reaches is not payable.
//   - Verification is not_started until there is a link, requested until the profile has a name and a country,
//     under_review for kybDecisionAfter, and then what kybDecision says. There is one verification, with the provider
//     named sandbox; any other provider has not started.
//   - Quotes are valid as long as on the platform API. A quote for a payin is a payin of the platform API, so that the
//     platform's sandbox routes complete it. From another chain it waits for its money at once; over a bank account it
//     waits once it is submitted. To submit it again changes nothing.
//   - A quote for a payout to a bank account is not_found: the contacts of this surface are wallets and emails.
//   - Transfers are paid in USDC and arrive at once. The amount of a transfer counts against the key's spend limit.
//     Over the limit it is refused with forbidden, reason spendLimitExceeded. If the balance is too low, it is refused
//     with payout_not_fundable.
//   - A transfer without a key has no derived key: the same body twice is two transfers. A quote and an invoice pay
//     once. A key replays for 7 days, within the account: its apps share their keys.
//   - An invoice is paid in the USDC that buy its amount, to the contractor's account if the host has it.
//   - A wallet logs in with its owner's card wallet. Every signature must be of that wallet, as an EIP-191 personal
//     message. Nothing is sent to a chain.
package account
