package platform

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Operator sees every account, and does what the operator of the service or one of its partners can do. It needs no
// session.
type Operator struct {
	platform *Platform
	owner    string // of the host's first account, which is shown as self
	email    string
}

// Operator returns the operator of a host whose first account has this id and email.
func (p *Platform) Operator(owner, email string) Operator { return Operator{p, owner, email} }

// maxListed is how many resources a list has at most.
const maxListed = 200

// Listed are the newest resources of a kind.
type Listed[V any] struct {
	Items []V `json:"items"`
	Total int `json:"total"` // of those that fit, with the ones that are too old for the list
}

// listedOf returns the newest resources in which a text is found, the newest first. fields returns what a list shows of
// one.
func listedOf[R, V any](all iter.Seq[R], find string, fields func(R) []string,
	created func(R) (time.Time, string), view func(R) V,
) Listed[V] {
	newer := func(a, b R) int {
		at, id := created(a)
		other, otherID := created(b)
		return cmp.Or(other.Compare(at), strings.Compare(id, otherID))
	}
	var latest []R
	total := 0
	for one := range all {
		if find != "" && !wire.MatchesText(find, fields(one)...) {
			continue
		}
		if latest, total = append(latest, one), total+1; len(latest) == 2*maxListed {
			slices.SortFunc(latest, newer)
			latest = latest[:maxListed]
		}
	}
	slices.SortFunc(latest, newer)
	list := Listed[V]{Items: []V{}, Total: total}
	for _, one := range latest[:min(len(latest), maxListed)] {
		list.Items = append(list.Items, view(one))
	}
	return list
}

// AccountView is an account as an operator sees it.
type AccountView struct {
	ID     string `json:"id"`     // a client's id, or self
	Ledger string `json:"ledger"` // its name in the ledger
	Email  string `json:"email"`
	Name   string `json:"name"`
	Status string `json:"status"` // pending or ready
	// CreatedAt is missing for the first account before its first request.
	CreatedAt time.Time                  `json:"createdAt,omitzero"`
	Balances  map[string]decimal.Decimal `json:"balances"`
}

// nameOf returns the name that an operator has for an account.
func (o Operator) nameOf(key holderKey) string {
	switch {
	case key.Account != wire.Self:
		return key.Account
	case key.Owner == o.owner:
		return wire.Self
	default:
		return key.Owner
	}
}

// names are what a list shows of an account.
func (o Operator) names(h *holder) []string {
	return []string{o.nameOf(h.Key), h.displayName(), h.Client.Email}
}

// Names returns what a list shows of each account, by its id and by its name in the ledger.
func (o Operator) Names() map[string]string {
	t := o.platform.begin()
	defer o.platform.commit()
	return o.allNames(t)
}

func (o Operator) allNames(t *txn) map[string]string {
	all := make(map[string]string, len(t.holders))
	for _, h := range t.holders {
		names := strings.Join(o.names(h), " ")
		all[o.nameOf(h.Key)], all[h.ledgerAccount()] = names, names
	}
	return all
}

// Accounts lists the accounts in which a text is found, the first one before all others.
func (o Operator) Accounts(find string) Listed[AccountView] {
	t := o.platform.begin()
	defer o.platform.commit()
	first := holderKey{o.owner, wire.Self}
	all := maps.Values(t.holders)
	if t.holders[first] == nil { // it opens with its first request
		all = func(yield func(*holder) bool) {
			if yield(&holder{Key: first, Client: platformwire.Client{Email: o.email}}) {
				maps.Values(t.holders)(yield)
			}
		}
	}
	return listedOf(all, find, o.names, func(h *holder) (time.Time, string) {
		if h.Key == first {
			return time.Unix(1<<40, 0), "" // later than any other
		}
		return h.Client.CreatedAt, h.Key.Account
	}, func(h *holder) AccountView { return o.account(t, h) })
}

// FoundLedger is the ledger with some of its movements. Sums and balances are those of the whole ledger.
type FoundLedger struct {
	Ledger
	Total int `json:"total"` // of the movements that fit
}

// Ledger returns the latest movements in which a text is found, each with all of its entries. If last is 0, it returns
// all that fit.
func (o Operator) Ledger(find string, last int) FoundLedger {
	t := o.platform.begin()
	defer o.platform.commit()
	found := FoundLedger{Ledger: t.ledger.view()}
	names := o.allNames(t)
	fits := func(e LedgerEntry) bool {
		return wire.MatchesText(find, e.Account, names[e.Account], e.Kind, e.ResourceID, e.Movement,
			e.Amount.String(), e.Currency, e.At.UTC().Format(time.DateTime))
	}
	var movements [][]LedgerEntry
	for all := found.Entries; len(all) > 0; {
		start := len(all) - 1
		for start > 0 && all[start-1].Movement == all[start].Movement {
			start--
		}
		if find == "" || slices.ContainsFunc(all[start:], fits) {
			if found.Total++; last == 0 || found.Total <= last {
				movements = append(movements, all[start:])
			}
		}
		all = all[:start]
	}
	slices.Reverse(movements)
	found.Entries = slices.Concat(movements...)
	return found
}

func (o Operator) account(t *txn, h *holder) AccountView {
	view := AccountView{
		ID: o.nameOf(h.Key), Ledger: h.ledgerAccount(), Email: h.Client.Email, Name: h.displayName(),
		Status: string(platformwire.ClientStatusPending), CreatedAt: h.Client.CreatedAt,
		Balances: map[string]decimal.Decimal{},
	}
	if t.hasWallet(h) {
		view.Status = string(platformwire.ClientStatusReady)
	}
	for _, asset := range assets {
		view.Balances[asset] = t.ledger.balance(h.ledgerAccount(), asset)
	}
	return view
}

// holder finds an account by the name that an operator has for it. It opens the first account if needed.
func (o Operator) holder(t *txn, name string) (*holder, error) {
	if name == wire.Self {
		return t.holderOf(wire.Caller{Owner: o.owner, Email: o.email, Account: wire.Self})
	}
	for key, h := range t.holders {
		if o.nameOf(key) == name {
			return h, nil
		}
	}
	return nil, wire.NotFound()
}

// Credited is a credit that was made.
type Credited struct {
	TransactionID string          `json:"transactionId"`
	Account       string          `json:"account"`
	Amount        decimal.Decimal `json:"amount"`
	Currency      string          `json:"currency"`
	Balance       decimal.Decimal `json:"balance"`
}

// Credit moves money from the faucet to an account, as a deposit of the account does. The setting MaxCredit does not
// limit it.
func (o Operator) Credit(account string, amount decimal.Decimal, currency string) (Credited, error) {
	if !slices.Contains(assets, currency) {
		return Credited{}, wire.InvalidField("currency", "enum", "The currency is USDC or EURC.")
	}
	if err := checkAmount(amount, assetDecimals); err != nil {
		return Credited{}, err
	}
	credit := platformwire.DepositCreate{Amount: amount.Truncate(assetDecimals), Currency: platformwire.Asset(currency)}
	t := o.platform.begin()
	defer o.platform.commit()
	h, err := o.holder(t, account)
	if err != nil {
		return Credited{}, err
	}
	if err := t.checkCreditable(h, credit, credit.Amount); err != nil {
		return Credited{}, err
	}
	created := t.credit(h, credit, false)
	return Credited{
		TransactionID: created.ID, Account: o.nameOf(h.Key), Amount: created.Amount, Currency: currency,
		Balance: t.ledger.balance(h.ledgerAccount(), currency),
	}, nil
}

// Revision does what is due, and returns a number that grows with every change of money, payouts and accounts.
func (o Operator) Revision() int64 {
	keeper := o.platform.begin().store.keeper
	o.platform.commit()
	return keeper.Revision()
}
