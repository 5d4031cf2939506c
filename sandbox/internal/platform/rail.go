package platform

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// rail is a rail that an account has opened: its virtual account.
type rail struct {
	platformwire.CoverageRail
	ID       string // bnk_
	OpenedAt time.Time
}

// ListRails lists the rails that the account can have, opened or not.
func (p *Platform) ListRails(ctx context.Context, params platformwire.ListRailsParams) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	list := queryOf(c, "ListRails")
	from, err := list.position(params.Cursor, 0)
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	page := platformwire.RailPage{Items: []platformwire.Rail{}}
	size := pageSize(params.Limit)
	for i, offered := range platformwire.CoverageRails {
		if i < from || t.hidden(offered) && h.Rails[offered.Method] == nil {
			continue
		}
		if len(page.Items) == size {
			page.NextCursor = list.cursor(i)
			break
		}
		page.Items = append(page.Items, t.railView(h, offered))
	}
	return wire.OK(page).Lean(), nil
}

// OpenRail opens a rail. Account and rail are the natural key. It checks for refusals in this order: the integrator's
// agreement, the account's wallet, its verification, the partner.
func (p *Platform) OpenRail(ctx context.Context, body platformwire.RailCreate) (wire.Response, error) {
	requested := platformwire.CoverageRail{Method: body.Method, Currency: body.Currency}
	if err := checkRail(requested); err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	if h.Rails[requested.Method] != nil {
		return wire.OK(t.railView(h, requested)).Lean().Replayed(), nil
	}
	if err := t.checkOpenable(h, requested); err != nil {
		return wire.Response{}, err
	}
	if h.Rails == nil {
		h.Rails = map[platformwire.BankMethod]*rail{}
	}
	h.Rails[requested.Method] = &rail{CoverageRail: requested, ID: newID("bnk_"), OpenedAt: t.now}
	t.store.holders.Put(h)
	return wire.Created(t.railView(h, requested)).Lean(), nil
}

// checkRail refuses a rail that no client can have.
func checkRail(requested platformwire.CoverageRail) error {
	offered, ok := platformwire.CoverageRailOf(requested.Method)
	switch {
	case !ok:
		return wire.InvalidField("method", "enum", "There is no rail with this method.")
	case offered.Currency != requested.Currency:
		return wire.InvalidField("currency", "currency_mismatch", "The rail receives "+offered.Currency+".")
	default:
		return nil
	}
}

func (t *txn) checkOpenable(h *holder, requested platformwire.CoverageRail) error {
	switch {
	case t.hidden(requested), slices.Contains(t.settings.RailsDisabled, string(requested.Method)):
		return wire.RailNotAvailable()
	case !t.hasWallet(h):
		return wire.WalletNotLinked()
	}
	if blockers := t.verificationBlockers(h); len(blockers) > 0 {
		return wire.RailRequirementsUnmet(blockers)
	}
	if t.settings.PartnerDown {
		return wire.ProviderUnavailable("The banking partner is unavailable; try again later.")
	}
	return nil
}

// hidden reports whether clients cannot have a rail because of their country or type.
func (t *txn) hidden(r platformwire.CoverageRail) bool {
	return slices.Contains(t.settings.RailsHidden, string(r.Method))
}

// railStatus returns the status of a rail.
func (t *txn) railStatus(opened *rail, method platformwire.BankMethod) platformwire.RailStatus {
	switch {
	case slices.Contains(t.settings.ChannelsUnavailable, string(method)):
		return platformwire.RailStatusChannelUnavailable
	case opened == nil:
		return platformwire.RailStatusAvailable
	case t.now.Before(opened.activeAt(t.settings)):
		return platformwire.RailStatusPending
	default:
		return platformwire.RailStatusActive
	}
}

func (r *rail) activeAt(settings *deployment.Settings) time.Time {
	return r.OpenedAt.Add(time.Duration(settings.RailActiveAfter))
}

// railView returns a rail as responses show it. Its virtual account is shown once it was active, even if the channel is
// down.
func (t *txn) railView(h *holder, r platformwire.CoverageRail) platformwire.Rail {
	opened := h.Rails[r.Method]
	view := platformwire.Rail{Method: r.Method, Currency: r.Currency, Status: t.railStatus(opened, r.Method)}
	if opened != nil && !t.now.Before(opened.activeAt(t.settings)) {
		view.VirtualAccount = &platformwire.VirtualAccount{ID: opened.ID, Requisites: opened.requisites(h)}
	}
	return view
}

// partnerName is the only name that the service gives for the holder of an account.
const partnerName = "Licensed banking partner"

// sandboxBIC has the form of a BIC and belongs to nobody.
const sandboxBIC = "ZZZZZZZ0"

// requisites returns what a payer needs to send money to a virtual account, by the identifiers of its method. The
// numbers are derived from the account's id, and have valid checksums.
func (r *rail) requisites(h *holder) platformwire.Requisites {
	all := platformwire.Requisites{
		AccountHolderName: cmp.Or(h.displayName(), h.Client.Email),
		BankName:          partnerName,
	}
	switch r.Method {
	case platformwire.BankMethodSEPA:
		all.IBAN, all.BIC = iban("DE", r.digits(18)), sandboxBIC
	case platformwire.BankMethodUAEFTS:
		all.IBAN, all.BIC = iban("AE", r.digits(19)), sandboxBIC
	case platformwire.BankMethodSWIFT:
		all.AccountNumber, all.BIC = r.digits(12), sandboxBIC
	case platformwire.BankMethodACH, platformwire.BankMethodFedwire:
		all.AccountNumber, all.RoutingNumber = r.digits(12), aba(r.digits(7))
	case platformwire.BankMethodUKFPS:
		all.AccountNumber, all.RoutingNumber = r.digits(8), "000000"
	case platformwire.BankMethodNPP:
		all.AccountNumber, all.RoutingNumber = r.digits(9), "000000"
	case platformwire.BankMethodNIP:
		all.AccountNumber, all.RoutingNumber = r.digits(10), "000000"
	case platformwire.BankMethodSPEI:
		all.AccountNumber = clabe(r.digits(17))
	case platformwire.BankMethodTransfers30:
		all.AccountNumber = r.digits(22)
	case platformwire.BankMethodPSE:
		all.AccountNumber = r.digits(11)
	default: // pix and breb use a key
		all.PaymentKey = r.ID[len("bnk_"):]
	}
	return all
}

// digits returns decimal digits that are derived from the account's id, at most 32.
func (r *rail) digits(n int) string {
	digest := sha256.Sum256([]byte(r.ID))
	text := make([]byte, n)
	for i := range text {
		text[i] = '0' + digest[i]%10
	}
	return string(text)
}

// iban adds the check digits of ISO 7064 mod 97-10 to an account number.
func iban(country, account string) string {
	for check := 2; check <= 98; check++ {
		if candidate := fmt.Sprintf("%s%02d%s", country, check, account); validIBAN(candidate) {
			return candidate
		}
	}
	return "" // one of 97 remainders always fits
}

// aba returns a routing number: 0, seven digits, and the check digit of the 3-7-1 sum.
func aba(seven string) string {
	for check := '0'; check <= '9'; check++ {
		if candidate := "0" + seven + string(check); validABA(candidate) {
			return candidate
		}
	}
	return "" // one of ten digits always fits
}

// clabe appends the control digit of a Mexican account number: weights 3, 7, 1, each product modulo 10.
func clabe(account string) string {
	sum := 0
	for i, digit := range account {
		sum += int(digit-'0') * [...]int{3, 7, 1}[i%3] % 10
	}
	return account + string(rune('0'+(10-sum%10)%10))
}
