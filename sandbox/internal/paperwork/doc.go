// Package paperwork keeps uploaded documents, contracts, invoices with and without a contract, and the copies of
// invoices for their recipients. It moves no money. The package that moves the money calls [Service.Settle].
//
// Like package platform, it relies on the checks of the gate: the credential and the syntax of the request. One mutex
// guards all state. It is held while an invoice is paid, and not while a PDF is rendered. Time comes only from the
// host's clock.
//
// A copy is a PDF of A4 pages. It is deterministic: the same content and time give the same bytes. Its text can be
// selected and searched. The embedded fonts have Latin, Greek and Cyrillic characters. Any other character prints as a
// question mark.
//
// # What the host decides
//
// The service's description does not say these; they are the host's own decisions:
//
//   - An account sees what it created, and what names its email address as one of the parties. Everything else is
//     not_found. The id of a party other than the caller is derived from its email address.
//   - The creator of a contract is its client. To create the contract is the client's acceptance, unless a signature is
//     required: then the client approves after the contractor, and the contract waits as pending_approval_by_client.
//   - A contractor accepts automatically after the time in the settings, or at once with its own app key.
//   - A paused contract issues no invoices; to approve it again resumes it. To pause anything but an active contract is
//     a conflict. A contract is completed when its expiration passes, and cancelled if nobody has accepted it by then.
//   - To delete an offer removes it. To delete a contract that was in force cancels it: it stays readable, because its
//     invoices refer to it. A completed contract cannot be deleted.
//   - Fields and schedule can be changed until a contract is completed or cancelled. A change needs no new acceptance.
//   - Contracts are invoiced by periods, which are numbered from 1. A period is invoiced once.
//   - An invoice is sent when it is created. Nobody else sees an invoice that was moved back to draft. If the
//     contractor is not given, it is the caller. If the client of another contractor's invoice is not given, it is the
//     caller too.
//   - Prices are for one unit. A line is rounded to the decimals of the currency, half away from zero.
//   - An invoice without payment methods can be paid to the contractor's account by email and, if it is on chain, to
//     the contractor's wallet on Base.
//   - The id of an invoice is its public id.
//   - An invoice can change from every state to every other, with two exceptions: an invoice that was paid with money
//     of this host stays paid, and a cancelled invoice whose period has a new invoice stays cancelled. To say paid
//     again keeps what is known of the payment and adds what is new; a reference of null unlinks the transaction. To
//     leave paid forgets the payment. The state client_paid takes a reference and a time as paid does, and stores no
//     time itself.
//   - The type of a document says what it is. Its context has no effect.
//   - A payment has no date in the future, and a transaction reference belongs to one invoice.
//
// The products of the host's merchant never change. The service creates products in its own application. The host has
// some from the start, and one of them is no longer on sale.
package paperwork
