// Package invoicepdf renders the copy of an invoice as a PDF of A4 pages.
//
// A copy is deterministic: the same content at the same time is the same bytes. Its text can be selected and searched.
// The fonts are embedded and know Latin, Greek and Cyrillic; any other character prints as a question mark.
package invoicepdf
