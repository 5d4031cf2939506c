// Package console has the tests of two pages for people in headless Chromium: that of the host, /_console, and that of
// package payments/console, in payments_test.go. The pages share no code. Each test serves a host on loopback, opens
// the page, pays through the SDK, and uses the page as a person does: by mouse, by keyboard, on a phone, and by what a
// screen reader reads.
//
// A test fails if the page writes an error to the browser's console, or sends a request to anything but its host.
//
// Without the browser the tests are skipped, and say what is missing. MONEYMOVEMENT_REQUIRE=browser makes them fail.
// `make console-pictures` writes the pictures in docs/pictures.
package console
