// Package contract compares the SDK, the description of the wire and a host with each other. Its one suite is grouped
// by flow. It runs against the embedded sandbox host, where it calls every operation of the four surfaces and provokes
// every slug. It also runs against a real sandbox host, if the environment names one:
//
//	make contract                                     # the embedded host
//	MONEYMOVEMENT_BASE_URL=https://sandbox.example \
//	MONEYMOVEMENT_EMAIL=ops@example.com \
//	MONEYMOVEMENT_KEY_FILE=developer.pem \
//	MONEYMOVEMENT_API_KEY=... make contract           # a real one
//
// MONEYMOVEMENT_ACCESS_TOKEN and MONEYMOVEMENT_WALLET_KEY_FILE add the reference endpoints and card details. Cases
// without a credential are skipped. Cases that move the host's clock or change its settings are skipped too. The report
// counts these as "needs the embedded host".
//
// A real host must first show that it is a sandbox, by its treasury. Until then the suite only logs in. The suite moves
// a few USDC of the faucet, in amounts that differ by more than 0.20. It paces itself, removes the contacts and
// contracts that it made, and cancels its invoices. It leaves one client, whose email is always the same and whose
// verification is prepared and not completed, one card if there was none, and the payments. It provokes every slug that
// needs neither the clock nor settings, and lists what it skipped with the reason.
//
// The report is in contract-report/: summary.txt for people, report.json for programs. It says which operations were
// called and which slugs were seen. For each assumption of openapi/README.md it says whether a response confirmed or
// contradicted it, with the field and the shape of the response. For a contradicted assumption it gives the line
// (openapi/dapi.yaml:812), and the edit that would make it true.
package contract
