// Package given reads the members of an update, which are absent, null or a value.
package given

import "github.com/oapi-codegen/nullable"

// Value is the value, or zero where the member is absent or null.
func Value[T any](member nullable.Nullable[T]) T {
	value, _ := member.Get()
	return value
}

// To changes what is kept to what is given: absent leaves it, null clears it.
func To[T any](kept *T, member nullable.Nullable[T]) {
	if member.IsSpecified() {
		*kept = Value(member)
	}
}
