// Package merchant keeps the products that the host's merchant sells. The service creates them in its own application;
// here some are there from the start, one of them no longer on sale.
package merchant
