// Package contract holds the SDK, the description of the wire and a host against each other. Its one suite is grouped
// by flow. It runs against the embedded sandbox host, where it calls every operation of the four surfaces and provokes
// every slug, or against a real sandbox host, which the environment names:
//
//	make contract                                     # the embedded host
//	MONEYMOVEMENT_BASE_URL=https://sandbox.example \
//	MONEYMOVEMENT_EMAIL=ops@example.com \
//	MONEYMOVEMENT_KEY_FILE=developer.pem \
//	MONEYMOVEMENT_API_KEY=... make contract           # a real one
//
// MONEYMOVEMENT_ACCESS_TOKEN and MONEYMOVEMENT_WALLET_KEY_FILE add the reference endpoints and card details. What has
// no credential is skipped; so is what moves the host's clock or settings, which the report counts as "needs the
// embedded host".
//
// A real host first has to show that it is a sandbox, by its treasury; until then it gets nothing but the login. The
// suite moves a few USDC of its faucet, in amounts further apart than 0.20, paces itself, and removes the contacts and
// contracts that it made. Invoices are cancelled; the one client, whose email is always the same, and what moved money
// stay.
//
// The report (contract-report/: summary.txt for people, report.json for programs) says which operations were called,
// which slugs seen, and of each assumption of openapi/README.md whether an answer confirmed or contradicted it, with
// the field and the shape of the answer. A contradicted one comes with its line (openapi/dapi.yaml:812) and with the
// edit that would make it true.
package contract
