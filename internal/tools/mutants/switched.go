package main

import (
	"fmt"
	"go/token"
	"strings"
)

// arithmetic has the functions of support that replace an operator.
var arithmetic = map[token.Token]string{
	token.ADD: "Sum", token.SUB: "Difference", token.MUL: "Product", token.QUO: "Quotient", token.REM: "Remainder",
}

// support is added to a package whose mutants are all built into one program. The variable MUTANT says which of them is
// on. The program writes the numbers of reached mutants to MUTANTS_REACHED, one on a line, so that each mutant is tried
// only with tests that reach it.
const support = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantOn, _     = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsReached  = os.Getenv("MUTANTS_REACHED")
	mutantsSeen     sync.Map
)

func mutated(n int) bool {
	if mutantsReached != "" {
		if _, seen := mutantsSeen.LoadOrStore(n, true); !seen {
			if file, err := os.OpenFile(mutantsReached, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				_, _ = file.WriteString(strconv.Itoa(n) + "\n")
				_ = file.Close()
			}
		}
	}
	return n == mutantOn
}

func mutantOf[T any](n int, was, is T) T { if mutated(n) { return is }; return was }

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

func mutantSum[T mutantNumber | ~float64](n int, a, b T) T { if mutated(n) { return a - b }; return a + b }
func mutantDifference[T mutantNumber | ~float64](n int, a, b T) T { if mutated(n) { return a + b }; return a - b }
func mutantProduct[T mutantNumber | ~float64](n int, a, b T) T { if mutated(n) { return a / b }; return a * b }
func mutantQuotient[T mutantNumber | ~float64](n int, a, b T) T { if mutated(n) { return a * b }; return a / b }
func mutantRemainder[T mutantNumber](n int, a, b T) T { if mutated(n) { return a * b }; return a %% b }
`

// supportFor returns the file that a package's switched sources need.
func supportFor(u *unit) string { return fmt.Sprintf(support, u.Name) }

// switchedText returns a file with all its mutants. The program switches one on when it starts.
func (s *source) switchedText() string {
	var render func(from, to, first int) string
	render = func(from, to, first int) string {
		var out strings.Builder
		at := from
		for i := first; i < len(s.Mutants); i++ {
			m := s.Mutants[i]
			if m.switched == nil || m.from < at || m.to > to {
				continue
			}
			out.WriteString(s.Text[at:m.from])
			out.WriteString(m.switched(m.number, func(from, to int) string { return render(from, to, i+1) }))
			at = m.to
		}
		out.WriteString(s.Text[at:to])
		return out.String()
	}
	return render(0, len(s.Text), 0)
}

// plainText returns a file with one mutant in it.
func (m *mutant) plainText() string {
	return m.source.Text[:m.from] + m.plain + m.source.Text[m.to:]
}
