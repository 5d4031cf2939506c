// Package measure compares the cost of two ways to do the same work.
//
// The two sides take turns in blocks of calls. Each turn gives one ratio. The ratio that counts is the median over the
// turns, and its interval comes from the order of the turns' ratios. A busy machine slows both sides of a turn alike,
// so ratios repeat where times do not.
package measure
