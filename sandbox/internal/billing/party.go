package billing

import (
	"cmp"
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// party is one side of a contract or an invoice.
type party struct {
	ID      string // of the account
	Profile Profile
}

// partyOf returns the party with an email address. Nothing else may be known about it.
func partyOf(email string) party { return Profile{Email: email}.party() }

func (p Profile) party() party {
	derived := uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte("mailto:"+strings.ToLower(p.Email)), 8).String()
	return party{ID: cmp.Or(p.ID, derived), Profile: p}
}

// is reports whether two parties are the same account. The zero party equals no party.
func (p party) is(other party) bool {
	return p.Profile.Email != "" && strings.EqualFold(p.Profile.Email, other.Profile.Email)
}

// resolve returns the party with an email address. If that is the caller, it has all that is known.
func (t *turn) resolve(email string) party {
	if named := partyOf(email); !named.is(t.me) {
		return named
	}
	return t.me
}

// name returns the name of the party.
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

// renamed returns the party with the name and address of a document.
func (p party) renamed(displayName string, address commonwire.PostalAddress) party {
	p.Profile.DisplayName = cmp.Or(displayName, p.Profile.DisplayName)
	if address != (commonwire.PostalAddress{}) {
		p.Profile.Address = &address
	}
	return p
}
