// Package card keeps the host's payment cards: issued, frozen, labelled, limited, and their numbers revealed to whoever
// holds the wallet that they spend from. The numbers are for tests: no network routes them.
//
// Like the platform's state machine it trusts its caller: the gate has read the credential and the request's syntax.
// Time comes from the host's clock alone.
//
// # What the host decides
//
// The service description leaves these open; they are the host's, not the service's:
//
//   - A card is pending, active once the setting's time has passed, and frozen. A pending card cannot be frozen,
//     unfrozen or revealed: conflict. A frozen card can be revealed. Freezing a frozen card and unfreezing an active
//     one change nothing.
//   - Cards are issued without verification. The card programme's own is not_started, requested once its link was asked
//     for, and approved when the same time has passed again; the holder's phone number is verified with it.
//   - New cards may spend 1,000 a day, 10,000 a month and 100,000 in all, in USD. A limit is no more than that of a
//     longer time, and has two decimals. Nothing spends from a card, so its usage stays 0.
//   - All cards of a host spend from the same wallet, whose key is among the credentials.
//   - A proof is "Reveal card <card_id> at <nonce>", signed as a personal message (EIP-191). The nonce is no more than
//     five minutes off the host's time in either direction, and reveals a card once: then it is a conflict. Whatever
//     else is wrong with a proof uses nothing up.
//   - Another wallet's signature, and one that cannot be read, is signature_invalid.
//   - A pre-approval takes the place of the one before, and the same again is the same transaction. Without an
//     amount it has no bound; without a currency it is USDC.
package card
