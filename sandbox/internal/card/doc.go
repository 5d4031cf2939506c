// Package card keeps the host's payment cards. Cards are issued, frozen, labelled, limited, and revealed to the holder
// of their wallet. The card numbers are for tests: no card network knows them.
//
// Like package platform, it relies on the checks of the gate: the credential and the syntax of the request. Time comes
// only from the host's clock.
//
// # What the host decides
//
// The service's description does not say these; they are the host's own decisions:
//
//   - A card is pending, then active after the time in the settings, and it can be frozen. A pending card cannot be
//     frozen, unfrozen or revealed: conflict. A frozen card can be revealed. To freeze a frozen card or unfreeze an
//     active card changes nothing.
//   - Cards are issued without verification. The card programme's own verification is not_started, requested once its
//     link was asked for, and approved after the time in the settings. The holder's phone number is verified with it.
//   - A new card may spend 1,000 a day, 10,000 a month and 100,000 in total, in USD. A limit must not be more than that
//     of a longer time, and has two decimals. Nothing spends from a card, so that its usage stays 0.
//   - All cards of a host spend from the same wallet, whose key is among the credentials.
//   - A proof is "Reveal card <card_id> at <nonce>", signed as a personal message (EIP-191). The nonce is within five
//     minutes of the host's time, and reveals a card once; then it is a conflict. A proof that is refused uses no
//     nonce.
//   - A signature of another wallet, or an unreadable one, is signature_invalid.
//   - A pre-approval replaces the one before, and the same pre-approval again is the same transaction. Without an
//     amount it has no limit; without a currency it is in USDC.
package card
