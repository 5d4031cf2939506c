package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// method is a bank method with the family of its account details.
type method struct {
	Method string
	Family string
	Needs  []string // fields in wire spelling that are assumed to be needed; a|b is one of two
}

// constant finds the constants of bank methods in the generated models.
var constant = regexp.MustCompile(`(?m)^\s*BankMethod(\w+)\s+BankMethod = "(\w+)"$`)

// namesOf returns the Go name of each bank method.
func namesOf(constants []byte) map[string]string {
	names := map[string]string{}
	for _, found := range constant.FindAllSubmatch(constants, -1) {
		names[string(found[2])] = string(found[1])
	}
	return names
}

// constructors writes one constructor for each method. If the catalogue has exactly one currency for a method, its
// constructor sets it.
func (c catalogue) constructors(b *bytes.Buffer, names map[string]string) error {
	for _, m := range c.Methods {
		name, family := names[m.Method], c.Families[m.Family]
		if name == "" {
			return fmt.Errorf("method %s has no constant", m.Method)
		}
		if family == nil || len(m.Needs) == 0 {
			return fmt.Errorf("method %s needs a family that is listed, and what it needs", m.Method)
		}
		currency, in := "", "Set account.Currency: the method has more than one."
		if paid := c.currencies(m.Method); len(paid) == 1 {
			currency, in = paid[0], "An empty account.Currency means "+paid[0]+"."
		}
		fmt.Fprintf(b, "\n// %s returns a destination for the bank method %s. %s\n// The method probably needs %s.\n",
			name, m.Method, in, needed(m.Needs))
		fmt.Fprintf(b,
			"func %s(account %s) ContactAccount {\nreturn paidBy(BankMethod%s, %q, account.BankAccount())\n}\n",
			name, family, name, currency)
	}
	return nil
}

// currencies returns the currencies that a method pays out.
func (c catalogue) currencies(method string) []string {
	var all []string
	for _, row := range c.MoneyOut {
		if slices.Contains(row.Methods, method) && !slices.Contains(all, row.Currency) {
			all = append(all, row.Currency)
		}
	}
	return all
}

// needed lists fields by their Go names: "A", "A and B", "A, and B or C".
func needed(needs []string) string {
	var all []string
	and := " and "
	for _, need := range needs {
		var either []string
		for field := range strings.SplitSeq(need, "|") {
			either = append(either, goName(field))
		}
		last := len(either) - 1
		if last > 0 {
			and = ", and "
			either = []string{strings.Join(either[:last], ", "), either[last]}
		}
		all = append(all, strings.Join(either, " or "))
	}
	return strings.Join(all, and)
}

// goName returns a field's name in Go.
func goName(field string) string {
	for wire, name := range map[string]string{"iban": "IBAN", "bic": "BIC", "pixKey": "PIXKey"} {
		if field == wire {
			return name
		}
	}
	return strings.ToUpper(field[:1]) + field[1:]
}
