package model

import "github.com/oapi-codegen/nullable"

// Nullable is a member of an update. It has three states: absent, which is the zero value and leaves what is there;
// null, made with [Null], which clears it; and a value, made with [Set], be it an empty text. Creates have plain
// fields: for them, absent and null mean the same.
type Nullable[T any] = nullable.Nullable[T]

// Set is a member that gets a value.
func Set[T any](value T) Nullable[T] { return nullable.NewNullableWithValue(value) }

// Null is a member that is sent as null.
func Null[T any]() Nullable[T] { return nullable.NewNullNullable[T]() }
