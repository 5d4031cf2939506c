package model

import "github.com/oapi-codegen/nullable"

// Nullable is a field of an update. It has three states:
//
//   - not set (the zero value): the service keeps its value
//   - null, made with [Null]: the service clears the field
//   - a value, made with [Set], which may be empty
//
// A request that creates something has plain fields, because a missing field and null mean the same there.
type Nullable[T any] = nullable.Nullable[T]

// Set returns a field that is set to value.
func Set[T any](value T) Nullable[T] { return nullable.NewNullableWithValue(value) }

// Null returns a field that is sent as null.
func Null[T any]() Nullable[T] { return nullable.NewNullNullable[T]() }
