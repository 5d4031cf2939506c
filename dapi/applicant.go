package dapi

import "maps"

// Applicant holds what a client states about itself for its verification. The service's description does not show the
// JSON names of these fields. The SDK assumes names that the sandbox host accepts. [Verification.Get] returns what is
// still missing, with the service's own names: set those in Further.
type Applicant struct {
	// LegalName is the registered name of a business.
	LegalName string
	// FirstName and LastName are the legal names of a person.
	FirstName, LastName string
	// Country is the ISO 3166-1 alpha-2 code of residency or registration, such as DE.
	Country string
	// Further has other fields, by their JSON name. It overrides the fields above. On the sandbox host, a nil value
	// removes a field that was saved before.
	Further map[string]any
}

// Map returns the value for the field Applicant of [KYBInformation]. It leaves out empty fields.
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
