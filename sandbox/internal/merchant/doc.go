// Package merchant has the products that the host's merchant sells. The service creates products in its own
// application; the host has some from the start, and one of them is no longer on sale.
package merchant
