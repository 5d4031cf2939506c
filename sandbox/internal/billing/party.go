package billing

import (
	"cmp"
	"strings"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// party is one side of a contract or an invoice.
type party struct {
	ID      string // of the account
	Profile Profile
}

// partyOf is the party with an email address, of whom nothing else may be known.
func partyOf(email string) party { return Profile{Email: email}.party() }

func (p Profile) party() party {
	derived := uuid.NewSHA1(uuid.NameSpaceURL, []byte("mailto:"+strings.ToLower(p.Email))).String()
	return party{ID: cmp.Or(p.ID, derived), Profile: p}
}

// is reports whether two parties are the same account; nobody is the zero party.
func (p party) is(other party) bool {
	return p.Profile.Email != "" && strings.EqualFold(p.Profile.Email, other.Profile.Email)
}

// resolve is the party with an email address: the caller itself with all that is known of it, or somebody else.
func (t *turn) resolve(email string) party {
	if named := partyOf(email); !named.is(t.me) {
		return named
	}
	return t.me
}

// name is how the party is called.
func (p party) name() string {
	return cmp.Or(
		p.Profile.DisplayName, p.Profile.EntityName,
		strings.TrimSpace(p.Profile.FirstName+" "+p.Profile.LastName), p.Profile.Email,
	)
}

func (p party) onContract() commonwire.ContractParty {
	return commonwire.ContractParty{
		ID:          p.ID,
		Email:       p.Profile.Email,
		DisplayName: p.name(),
		FirstName:   p.Profile.FirstName,
		LastName:    p.Profile.LastName,
		EntityName:  p.Profile.EntityName,
		IsBusiness:  p.Profile.IsBusiness,
		Address:     p.Profile.Address,
	}
}

func (p party) onInvoice() commonwire.InvoiceParty {
	view := commonwire.InvoiceParty{Email: p.Profile.Email, DisplayName: p.name()}
	if p.Profile.Address != nil {
		view.Address = *p.Profile.Address
	}
	return view
}

// renamed is the party under the name and address that a document gives it.
func (p party) renamed(displayName string, address commonwire.PostalAddress) party {
	p.Profile.DisplayName = cmp.Or(displayName, p.Profile.DisplayName)
	if address != (commonwire.PostalAddress{}) {
		p.Profile.Address = &address
	}
	return p
}
