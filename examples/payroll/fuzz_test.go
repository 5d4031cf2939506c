package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// FuzzReadPeople: a file of people is refused, or everybody in it can be paid, once: a positive amount of bounded size,
// an id of their own, and texts that the service takes. Written anew, it says the same.
func FuzzReadPeople(f *testing.F) {
	sample, err := os.ReadFile("payroll.csv")
	if err != nil {
		f.Fatal(err)
	}
	const head, line = "id,name,iban,amount,reference\n", "e-01,Example employee " +
		"1,DE89370400440532013000,21.40,Salary\n"
	for _, content := range []string{
		string(sample), "", head, head + line + line, "\ufeff" + head + line,
		strings.ReplaceAll(head+line, "\n", "\r\n"),
		" ID , Name,IBAN ,Amount,Reference\n" + line, head + strings.Replace(line, "21.40", "1e5", 1),
		head + strings.Replace(line, "DE89", "DE88", 1),
		head + `"e ""1""","a` + "\n" + `b",DE89 3704 0044 0532 0130 00,0.000001,` + "\n",
		"reference," + head + "x," + line, head + "e-01,\"\n",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		people, err := readPeople(bytes.NewReader(content))
		if err != nil {
			return
		}
		var again bytes.Buffer
		writer := csv.NewWriter(&again)
		_ = writer.Write(columns)
		seen := map[string]bool{}
		for _, p := range people {
			switch {
			case p.id == "" || p.name == "" || seen[p.id] || p.line < 2:
				t.Fatalf("%+v", p)
			case !p.amount.IsPositive() || p.amount.Exponent() < -6 || p.amount.GreaterThan(decimal.New(1, 9)):
				t.Fatalf("is paid %s", p.amount)
			case len(p.iban) < 15 || len(p.iban) > 34 ||
				strings.Trim(p.iban, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "":
				t.Fatalf("is paid to %q", p.iban)
			}
			seen[p.id] = true
			_ = writer.Write([]string{p.id, p.name, p.iban, p.amount.String(), p.reference})
		}
		writer.Flush()
		same, err := readPeople(&again)
		if err != nil || len(same) != len(people) || len(people) == 0 {
			t.Fatalf("%d people became %d: %v", len(people), len(same), err)
		}
		for i, p := range people {
			if s := same[i]; s.id != p.id || s.name != p.name || s.iban != p.iban || s.reference != p.reference ||
				!s.amount.Equal(p.amount) {
				t.Fatalf("%+v became %+v", p, s)
			}
		}
	})
}
