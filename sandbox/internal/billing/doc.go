// Package billing keeps the host's paperwork: uploaded documents, contracts and the invoices issued under them or on
// their own, together with the copies of invoices that their recipients see. It moves no money; who does tells it so
// ([Billing.Settle]).
//
// Like the platform's state machine it trusts its caller: the gate has read the credential and the request's syntax.
// All state lives behind one mutex, which is not held while a PDF is rendered, but is while an invoice is paid. Time
// comes from the host's clock alone.
//
// # What the host decides
//
// The service description leaves these open; they are the host's, not the service's:
//
//   - An account sees what it created and what names its email address as one of the parties; everything else is
//     not_found. The id of a party that is not the caller follows from its email address.
//   - Whoever creates a contract is its client. Creating it is the client's acceptance, unless a signature is required:
//     then the client approves after the contractor, and the contract waits as pending_approval_by_client.
//   - A contractor accepts by itself once the setting's time has passed, or at once with an app key of its own.
//   - A paused contract issues no invoices; approving it again resumes it. Pausing anything but an active contract is
//     a conflict. A contract is completed when its expiration passes, and cancelled if nobody had accepted it by then.
//   - Deleting an offer removes it. Deleting a contract that was in force cancels it, and it stays readable, because
//     its invoices refer to it. A completed contract is not deleted any more.
//   - Fields and schedule can be changed until a contract is completed or cancelled, and need no new acceptance.
//   - Contracts are invoiced period by period, numbered from 1. A period is invoiced once.
//   - An invoice is sent when it is created; nobody else sees one that was moved back to draft. A missing contractor is
//     the caller, and so is a missing client of somebody else's invoice.
//   - Prices are of one unit. A line is rounded to the decimals of the currency, half away from zero.
//   - An invoice that names no payment methods can be paid to the contractor's account by email, and if it is on chain,
//     to the contractor's wallet on Base.
//   - The id of an invoice is its public id.
//   - Every state accepts every other, except that an invoice which money of this host paid stays paid, and that one
//     whose period was invoiced anew stays cancelled. Saying paid again keeps what is known of the payment and adds
//     what is new, but a reference of null unlinks the transaction; leaving paid forgets it. Client_paid takes a
//     reference and a time as paid does, and has no time of its own.
//   - What a document is says its type. Its context decides nothing.
//   - A payment is not dated in the future, and a transaction reference belongs to one invoice.
package billing
