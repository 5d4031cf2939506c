package errors

// HasCode reports whether err's tree contains a refusal with this slug. A refusal made by hand has the slug of its
// type, also if its Code field is empty. HasCode does not look inside an [OutcomeUnknown].
func HasCode(err error, code Code) bool {
	for err != nil {
		if refusal, ok := err.(*Refusal); ok && refusal.Code == code { //nolint:errorlint // this walks the tree itself
			return true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the tree itself
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, branch := range wrapper.Unwrap() {
				if HasCode(branch, code) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}
