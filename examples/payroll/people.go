package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// person is one line of the file.
type person struct {
	line                      int
	id, name, iban, reference string
	amount                    decimal.Decimal // in USDC
}

var columns = []string{"id", "name", "iban", "amount", "reference"}

// readPeople reads the whole file. The error has every mistake in it, with its line.
func readPeople(file io.Reader) ([]person, error) {
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range header {
		at[strings.ToLower(strings.TrimSpace(name))] = i
	}
	for _, name := range columns {
		if _, found := at[name]; !found {
			return nil, fmt.Errorf("there is no column %q", name)
		}
	}
	var people []person
	var problems []error
	lineOf := map[string]int{}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err // after a broken line, nobody knows where the next one begins
		}
		line, _ := reader.FieldPos(0)
		cell := func(name string) string { return strings.TrimSpace(record[at[name]]) }
		next := person{line: line, id: cell("id"), name: cell("name"), iban: strings.ReplaceAll(cell("iban"), " ", ""),
			reference: cell("reference")}
		if first, double := lineOf[next.id]; double {
			problems = append(problems, fmt.Errorf("line %d: id %q is on line %d as well", line, next.id, first))
		}
		lineOf[next.id] = line
		if err := next.judge(cell("amount")); err != nil {
			problems = append(problems, err)
		}
		people = append(people, next)
	}
	if len(people) == 0 {
		problems = append(problems, errors.New("the file has no people in it"))
	}
	return people, errors.Join(problems...)
}

// amountForm is a plain decimal with at most 6 decimal places, as USDC has.
var amountForm = regexp.MustCompile(`^\d{1,9}(\.\d{1,6})?$`)

// judge checks a line and reads its amount.
func (p *person) judge(amount string) error {
	var wrong []string
	if amountForm.MatchString(amount) {
		p.amount = decimal.RequireFromString(amount)
	}
	if !p.amount.IsPositive() {
		wrong = append(wrong, fmt.Sprintf("amount %q is not a positive number with at most 6 decimals", amount))
	}
	if p.id == "" || p.name == "" {
		wrong = append(wrong, "id and name are needed")
	}
	if utf8.RuneCountInString(p.name) > 200 || utf8.RuneCountInString(p.reference) > 140 {
		wrong = append(wrong, "a name has at most 200 characters, a reference 140")
	}
	if !validIBAN(p.iban) {
		wrong = append(wrong, "iban has a mistake in it")
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("line %d: %s", p.line, strings.Join(wrong, "; "))
}

var ibanForm = regexp.MustCompile(`^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$`)

// validIBAN checks the form and the check digits (ISO 13616, ISO 7064 mod 97-10), which catch most typing errors.
func validIBAN(iban string) bool {
	if !ibanForm.MatchString(iban) {
		return false
	}
	var digits strings.Builder
	for _, r := range iban[4:] + iban[:4] {
		if r >= 'A' {
			fmt.Fprint(&digits, r-'A'+10)
		} else {
			digits.WriteRune(r)
		}
	}
	number, ok := new(big.Int).SetString(digits.String(), 10)
	return ok && new(big.Int).Mod(number, big.NewInt(97)).Int64() == 1
}
