package moneymovement_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

var stated = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

func TestDerivedKeysAreValidStableAndDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.String()).Draw(t, "parts")
		key := moneymovement.DeriveKey(parts...)
		if !stated.MatchString(string(key)) {
			t.Fatalf("key %q is not of the stated form", key)
		}
		if again := moneymovement.DeriveKey(slices.Clone(parts)...); again != key {
			t.Fatalf("%q and %q for the same parts", key, again)
		}
		other := rapid.SliceOf(rapid.String()).Draw(t, "other")
		if !slices.Equal(parts, other) && moneymovement.DeriveKey(other...) == key {
			t.Fatalf("the same key for %q and %q", parts, other)
		}
	})
}

func TestDerivedKeysDependOnHowPartsAreCut(t *testing.T) {
	assert.NotEqual(t, moneymovement.DeriveKey("ab", "c"), moneymovement.DeriveKey("a", "bc"))
	assert.NotEqual(t, moneymovement.DeriveKey("a", ""), moneymovement.DeriveKey("a"))
	assert.NotEqual(t, moneymovement.DeriveKey("é"), moneymovement.DeriveKey("è"), "replaced characters still count")
}

// What a key may hold stays readable, and anything else becomes a dash.
func TestDerivedKeysAreReadable(t *testing.T) {
	key := string(moneymovement.DeriveKey("azAZ09._:-", "`{@[/;,^é"))
	assert.Equal(t, "azAZ09._:-:---------", key[:len(key)-33])
	long := string(moneymovement.DeriveKey(strings.Repeat("x", 200)))
	assert.Len(t, long, 128)
	assert.Equal(t, strings.Repeat("x", 95)+".", long[:96])
}

func ExampleDeriveKey() {
	fmt.Println(moneymovement.DeriveKey("payroll", "2026-11", "employee 7"))
	// Output: payroll:2026-11:employee-7.5e405b7784eee37affe707f016b35b43
}
