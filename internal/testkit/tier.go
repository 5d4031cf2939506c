package testkit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const variable = "MONEYMOVEMENT_REQUIRE"

// known are the words that the variable may have.
var known = []string{"servers", "browser", "pages", "hsm", "soak"}

// requires reports whether the variable has a word. It panics if there is a word in it that means nothing.
func requires(word string) bool {
	listed := strings.FieldsFunc(os.Getenv(variable), func(r rune) bool { return r == ',' || r == ' ' })
	for _, w := range append(listed, word) {
		if !slices.Contains(known, w) {
			panic(fmt.Sprintf("%s: %q means nothing, known are %s", variable, w, strings.Join(known, ", ")))
		}
	}
	return slices.Contains(listed, word)
}

// Soak reports whether the tests have the sizes of a release, with which they take hours.
func Soak() bool { return requires("soak") }

// Size returns the second value for a release, and the first one otherwise.
func Size[T any](small, soak T) T {
	if Soak() {
		return soak
	}
	return small
}

// Long skips a test with -short. why says what the test does, such as "starts processes".
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why + "; make check runs it")
	}
}

// Missing ends a test for which something is missing on this machine: servers, browser, pages or hsm. It fails if that
// is required, and is skipped otherwise. why says what is missing, and what brings it.
func Missing(t testing.TB, what, why string) {
	t.Helper()
	if requires(what) {
		t.Fatal(why)
	}
	t.Skipf("%s (%s=%s makes this a failure)", why, variable, what)
}
