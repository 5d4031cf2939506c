package billing

import (
	"cmp"
	"strings"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// party is one side of a contract or an invoice.
type party struct {
	id      string // of the account
	profile Profile
}

// partyOf is the party with an email address, of whom nothing else may be known.
func partyOf(email string) party { return Profile{Email: email}.party() }

func (p Profile) party() party {
	derived := uuid.NewSHA1(uuid.NameSpaceURL, []byte("mailto:"+strings.ToLower(p.Email))).String()
	return party{id: cmp.Or(p.ID, derived), profile: p}
}

// is tells whether two parties are the same account; nobody is the zero party.
func (p party) is(other party) bool {
	return p.profile.Email != "" && strings.EqualFold(p.profile.Email, other.profile.Email)
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
		p.profile.DisplayName, p.profile.EntityName,
		strings.TrimSpace(p.profile.FirstName+" "+p.profile.LastName), p.profile.Email,
	)
}

func (p party) onContract() commonwire.ContractParty {
	return commonwire.ContractParty{
		ID:          p.id,
		Email:       p.profile.Email,
		DisplayName: p.name(),
		FirstName:   p.profile.FirstName,
		LastName:    p.profile.LastName,
		EntityName:  p.profile.EntityName,
		IsBusiness:  p.profile.IsBusiness,
		Address:     p.profile.Address,
	}
}

func (p party) onInvoice() commonwire.InvoiceParty {
	view := commonwire.InvoiceParty{Email: p.profile.Email, DisplayName: p.name()}
	if p.profile.Address != nil {
		view.Address = *p.profile.Address
	}
	return view
}

// renamed is the party under the name and address that a document gives it.
func (p party) renamed(displayName string, address commonwire.PostalAddress) party {
	p.profile.DisplayName = cmp.Or(displayName, p.profile.DisplayName)
	if address != (commonwire.PostalAddress{}) {
		p.profile.Address = &address
	}
	return p
}
