// Package pictures compares the pictures of docs/pictures with the sandbox host: each arrow of a picture is a change
// that the host makes, and a test goes along it over plain HTTP.
package pictures
