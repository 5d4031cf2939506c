package contrary

import "slices"

// Exception is something that a program cannot do without, though it is assumed.
type Exception struct {
	Where  []string // the marks: file, place and aspect, as Mark.Name gives them
	Kinds  []Kind   // how the service differs; all of them if none is named
	Reason string
}

// Exceptions are those of class answer. What proves a write (x-proof) is in none of them: it has to be there, whoever
// says so.
var Exceptions = []Exception{
	{
		Where: []string{"dapi.yaml Approval", "dapi.yaml Approval.payload", "dapi.yaml Payout.approval",
			"dapi.yaml EscrowAction.approval"},
		Kinds:  []Kind{Absent, Null, AsText, AsNumber, AsBoolean, AsObject, AsList, Unreadable},
		Reason: "the bytes that are signed: without them nothing is approved, and no money moves",
	},
	{
		Where:  []string{"dapi.yaml Approval.id"},
		Kinds:  []Kind{Absent, Null, AsNumber, AsBoolean, AsObject, AsList},
		Reason: "names the approval that is signed: a confirm of none, or of another, funds nothing",
	},
}

// ExceptionOf is the exception that a case falls under, if there is one.
func ExceptionOf(c Case) (reason string, is bool) {
	for _, e := range Exceptions {
		if slices.Contains(e.Where, c.Mark.Name()) && (len(e.Kinds) == 0 || slices.Contains(e.Kinds, c.Kind)) {
			return e.Reason, true
		}
	}
	return "", false
}
