// Package invoicepdf renders the copy of an invoice as a PDF of A4 pages.
//
// A copy is deterministic: the same content and time give the same bytes. Its text can be selected and searched. The
// embedded fonts have Latin, Greek and Cyrillic characters. Any other character prints as a question mark.
package invoicepdf
