// Package app is the host's state machine of what an app does with its owner's account: profile and verification,
// contacts, rails and quotes, transfers and their history. Documents, invoices, contracts and cards are not its own.
//
// An app acts for an integrator's own account, the same that the platform API calls oneself: one balance, one ledger,
// the same rails and payins. Money moves through [platform.Own] alone. Like the platform it trusts the gate in front of
// it, keeps its state behind one mutex that is held during no I/O, and takes its time from the host's clock.
//
// # What the host decides
//
// The service description leaves these open; they are the host's, not the service's:
//
//   - Contacts, quotes and profile are the account's; transfers are the app's. The list of transactions is the whole
//     ledger of the account, also what the platform API did. Its types are bank methods, crypto, internal and refund.
//   - Contacts are deduplicated by their account details within the account. An email names an existing account of the
//     service, or the contact is not_found. An address that no route reaches makes a contact that is not payable.
//   - Verification is not_started until there is a link, requested until the profile has a name and a country,
//     under_review for kybDecisionAfter, and then what kybDecision says. There is one verification, with the provider
//     named sandbox; any other provider has not started.
//   - Quotes hold as long as on the platform API. A payin's quote is a payin of the platform API, so that its sandbox
//     routes complete it. One from another chain waits for its money at once; one over a bank account once submitted.
//     Submitting again changes nothing.
//   - A payout's quote that names a bank account is not_found: the contacts of this surface are wallets and emails.
//   - Transfers are paid in USDC and arrive at once. A transfer takes what it debits off the key's spend limit; beyond
//     that it is forbidden, with reason spendLimitExceeded, and a balance that does not cover it is
//     payout_not_fundable.
//   - A transfer without a key has none: the same body twice is two transfers. A quote pays once, and so does an
//     invoice. A key replays for 7 days, within the account: its apps share their keys.
//   - An invoice is paid in as many USDC as buy its amount, to the contractor's account if the host has it.
//   - A wallet logs in with its owner's card wallet. Every signature must be that wallet's, as an EIP-191 personal
//     message; nothing goes on chain.
package app
