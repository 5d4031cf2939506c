package dapi

import "maps"

// Applicant is what a client says about itself for its verification, under the names that are assumed: the service's
// description names none of them. They are those that the sandbox host takes. [Verification.Get] returns what the
// service still needs, with its own names for it; put those into Further.
type Applicant struct {
	// LegalName is the registered name of a business.
	LegalName string
	// FirstName and LastName are those of a person.
	FirstName, LastName string
	// Country is the ISO 3166-1 alpha-2 code of residency or registration, such as DE.
	Country string
	// Further has other members, by name. It overrides the fields above. On the sandbox host, a nil value removes a
	// member that was saved before.
	Further map[string]any
}

// Map returns the applicant for the field Applicant of what [Verification.Save] takes. It leaves out what is empty.
func (a Applicant) Map() map[string]any {
	named := map[string]any{}
	for name, value := range map[string]string{
		"legalName": a.LegalName, "firstName": a.FirstName, "lastName": a.LastName, "country": a.Country,
	} {
		if value != "" {
			named[name] = value
		}
	}
	maps.Copy(named, a.Further)
	return named
}
