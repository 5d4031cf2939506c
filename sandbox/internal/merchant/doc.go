// Package merchant has the products of the host's merchant. The service creates products in its own application. The
// host has some from the start, and one of them is no longer on sale.
package merchant
