// Package given reads the members of an update, which are absent, null or a value.
package given

import "github.com/oapi-codegen/nullable"

// Value returns the value of a member, or zero if the member is absent or null.
func Value[T any](member nullable.Nullable[T]) T {
	value, _ := member.Get()
	return value
}

// To returns the new value: an absent member keeps the old value, and null clears it.
func To[T any](kept *T, member nullable.Nullable[T]) {
	if member.IsSpecified() {
		*kept = Value(member)
	}
}
