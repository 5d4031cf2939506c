package contrary

import "slices"

// Exception is something assumed that a program cannot work without.
type Exception struct {
	Where  []string // the marks: file, place and aspect, as in Mark.Name
	Kinds  []Kind   // how the service differs; empty for all kinds
	Reason string
}

// Exceptions are those of class answer. They do not include the proof of a write (x-proof): it is required even if it
// is only assumed.
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
		Reason: "names the signed approval: a confirm without it, or of another approval, funds nothing",
	},
}

// ExceptionOf returns the exception for a case, if there is one.
func ExceptionOf(c Case) (reason string, is bool) {
	for _, e := range Exceptions {
		if slices.Contains(e.Where, c.Mark.Name()) && (len(e.Kinds) == 0 || slices.Contains(e.Kinds, c.Kind)) {
			return e.Reason, true
		}
	}
	return "", false
}
