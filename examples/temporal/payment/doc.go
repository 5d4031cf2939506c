// Package payment makes a payment with Temporal: [Workflow] is one payment, and [Activities] makes its calls. The
// README of the module says why each retry is safe.
package payment
