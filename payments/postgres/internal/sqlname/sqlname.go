// Package sqlname puts the name of a schema into statements for PostgreSQL. Some programs make the name from what a
// tenant is called.
package sqlname

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many bytes of a name PostgreSQL keeps. It cuts off the rest without an error, so two longer names can
// be one.
const longest = 63

// Schema is the name of a schema that [Check] has accepted.
type Schema struct{ name string }

// Check returns the schema of a name. A name is text of up to 63 bytes that can be printed, without a dollar sign. No
// other character could end a comment or the body of a function that has the quoted name in it.
func Check(name string) (Schema, error) {
	unfit := func(r rune) bool { return r == '$' || !unicode.IsPrint(r) }
	if name == "" || len(name) > longest || !utf8.ValidString(name) || strings.ContainsFunc(name, unfit) {
		return Schema{}, fmt.Errorf("%.80q is not a name for a schema: a name has up to %d bytes of text that can be "+
			"printed, and no dollar sign", name, longest)
	}
	return Schema{name}, nil
}

// String returns the name itself.
func (s Schema) String() string { return s.name }

// In replaces {schema} in a statement by the quoted name. It also replaces the name of each thing of the schema, in
// such brackets, by a text that a cast to regclass reads. All of it is one pass: a name may look like another's place.
func (s Schema) In(statement string, things ...string) string {
	quoted := `"` + strings.ReplaceAll(s.name, `"`, `""`) + `"`
	places := []string{"{schema}", quoted}
	for _, thing := range things {
		// the form with an E means the same whatever standard_conforming_strings is
		text := strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(quoted + "." + thing)
		places = append(places, "{"+thing+"}", "E'"+text+"'")
	}
	return strings.NewReplacer(places...).Replace(statement)
}
