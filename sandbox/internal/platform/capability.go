package platform

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The host's codes of blockers. The description does not show the service's own. Blocker codes are never slugs.
const (
	blockedDetailMissing      = "account_detail_missing"
	blockedDetailInvalid      = "account_detail_invalid"
	blockedHolderMissing      = "holder_name_missing"
	blockedCurrency           = "currency_not_supported"
	blockedMethod             = "method_not_supported"
	blockedChannelUnavailable = "channel_unavailable"
	blockedChain              = "chain_not_live"
	blockedToken              = "token_not_listed"
	blockedAccountNotReady    = "account_not_ready"
)

// GetContactCapabilities returns how a contact can be paid, and what prevents it.
func (p *Platform) GetContactCapabilities(
	ctx context.Context, contactID platformwire.ContactID,
) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	found, err := t.contactOf(h, contactID)
	if err != nil {
		return wire.Response{}, err
	}
	response := platformwire.ContactCapabilities{ContactID: found.ID, Blockers: blockersView(t.blockers(found))}
	payable := len(response.Blockers) == 0
	if response.Payable = &payable; payable {
		response.Methods = found.methods()
	}
	return wire.OK(response).Lean(), nil
}

// blockersView returns blockers as responses show them. It is never nil, so that JSON has an array.
func blockersView(list []wire.Blocker) []platformwire.Blocker {
	views := make([]platformwire.Blocker, len(list))
	for i, blocker := range list {
		views[i] = platformwire.Blocker{Code: blocker.Code, Message: blocker.Message, Field: blocker.Field}
	}
	return views
}

// methods lists the ways to pay a payable contact. A way is cross-chain if no settlement asset arrives directly.
func (c *contact) methods() []platformwire.ContactMethod {
	switch to := c.To; {
	case to.Bank != nil:
		return []platformwire.ContactMethod{{Method: string(to.Bank.AccountType), Currency: to.currency(c.Currency)}}
	case to.Wallet != nil:
		return []platformwire.ContactMethod{{Method: "onchain", Currency: to.Wallet.Token,
			CrossChain: !slices.ContainsFunc(assets, to.direct)}}
	default:
		list := make([]platformwire.ContactMethod, len(assets))
		for i, asset := range assets {
			list[i] = platformwire.ContactMethod{Method: "onchain", Currency: asset}
		}
		return list
	}
}

// blockers lists what prevents a payment to a contact, in the order of the account's fields.
func (t *txn) blockers(c *contact) []wire.Blocker {
	switch {
	case c.To.Bank != nil:
		return t.bankBlockers(c)
	case c.To.Wallet != nil:
		return walletBlockers(c.To.Wallet)
	case !t.hasWallet(c.To.Email.holder):
		return []wire.Blocker{{Code: blockedAccountNotReady,
			Message: "The account behind the email has no wallet yet.", Field: "email"}}
	default:
		return nil
	}
}

func (t *txn) bankBlockers(c *contact) []wire.Blocker {
	bank := c.To.Bank
	route, known := platformwire.CoverageMethods[string(bank.AccountType)]
	if !known {
		return []wire.Blocker{{Code: blockedMethod, Message: "There is no payout method with this name.",
			Field: "accountType"}}
	}
	var list []wire.Blocker
	if slices.Contains(t.settings.PayoutMethodsDisabled, string(bank.AccountType)) {
		list = append(list,
			wire.Blocker{Code: blockedChannelUnavailable, Message: "The method is temporarily unavailable."})
	}
	if currency := c.To.currency(c.Currency); currency != route.Currency {
		message := fmt.Sprintf("The method %s pays out %s.", bank.AccountType, route.Currency)
		list = append(list, wire.Blocker{Code: blockedCurrency, Message: message, Field: "currency"})
	}
	if holderName(bank, c.Name) == "" {
		list = append(list,
			wire.Blocker{Code: blockedHolderMissing, Message: "A bank payment needs the name of the account holder.",
				Field: "accountHolderName"})
	}
	identifiers := identifiersOf(bank)
	for _, alternatives := range route.Needed() {
		if !slices.ContainsFunc(alternatives, func(field string) bool { return identifiers[field] != "" }) {
			message := fmt.Sprintf("The method %s needs %s.", bank.AccountType, strings.Join(alternatives, " or "))
			list = append(list, wire.Blocker{Code: blockedDetailMissing, Message: message, Field: alternatives[0]})
		}
	}
	return append(list, invalidIdentifiers(c, route)...)
}

// identifiersOf returns the fields that methods need as identifiers.
func identifiersOf(bank *platformwire.BankAccount) map[string]string {
	return map[string]string{
		"iban": bank.IBAN, "bic": bank.BIC, "accountNumber": bank.AccountNumber, "routingNumber": bank.RoutingNumber,
		"pixKey": bank.PIXKey, "paymentKey": bank.PaymentKey, "branchNumber": bank.BranchNumber,
		"phoneNumber": bank.PhoneNumber,
	}
}

// invalidIdentifiers checks the identifiers with a checksum or a register, and the countries.
func invalidIdentifiers(c *contact, route platformwire.CoverageMethod) []wire.Blocker {
	bank := c.To.Bank
	var list []wire.Blocker
	invalid := func(field, message string) {
		list = append(list, wire.Blocker{Code: blockedDetailInvalid, Message: message, Field: field})
	}
	if bank.IBAN != "" && !validIBAN(bank.IBAN) {
		invalid("iban", "The IBAN's form, its length for the country, or its checksum is wrong.")
	}
	if bank.BIC != "" && !bicForm.MatchString(bank.BIC) {
		invalid("bic", "A BIC has 8 or 11 characters.")
	}
	if bank.RoutingNumber != "" && route.Currency == "USD" && !validABA(bank.RoutingNumber) {
		invalid("routingNumber", "The routing number's form or checksum is wrong.")
	}
	if bank.HolderNationality != "" && !isCountry(bank.HolderNationality) {
		invalid("holderNationality", "The nationality is not the ISO 3166-1 code of a country, such as DE.")
	}
	if c.Address != nil && c.Address.Country != "" && !isCountry(c.Address.Country) {
		invalid("address.country", "The country is not an ISO 3166-1 code, such as DE.")
	}
	return list
}

// walletBlockers lists what no route reaches. A chain or token off Base is not a blocker by itself: the payment is then
// cross-chain.
func walletBlockers(wallet *walletDestination) []wire.Blocker {
	var list []wire.Blocker
	chain, live := chainByCode(wallet.Chain)
	if !live {
		list = append(list, wire.Blocker{Code: blockedChain, Message: "The service does not support this chain.",
			Field: "chainId"})
	} else if _, listed := tokenOf(chain, wallet.Token); !listed {
		list = append(list, wire.Blocker{Code: blockedToken, Message: "The chain does not list this token.",
			Field: "currency"})
	}
	if !addressForm.MatchString(wallet.Address) {
		list = append(list,
			wire.Blocker{Code: blockedDetailInvalid, Message: "The address is not valid on this chain.",
				Field: "walletAddress"})
	}
	return list
}

var (
	ibanForm    = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)
	bicForm     = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$`)
	abaForm     = regexp.MustCompile(`^[0-9]{9}$`)
	addressForm = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
)

// ibanLengths are the countries of the IBAN registry by the length of their IBANs.
var ibanLengths = map[int]string{
	15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
	21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL",
	24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR",
	27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV", 29: "BR EG PS QA UA",
	30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
}

// validIBAN checks the form, the length for the country and the ISO 7064 mod 97-10 checksum. On the wire, an IBAN has
// no separators.
func validIBAN(iban string) bool {
	if !ibanForm.MatchString(iban) || !strings.Contains(ibanLengths[len(iban)], iban[:2]) {
		return false
	}
	remainder := 0
	for _, r := range iban[4:] + iban[:4] {
		digits := string(r)
		if r >= 'A' {
			digits = strconv.Itoa(int(r-'A') + 10)
		}
		for _, digit := range digits {
			remainder = (remainder*10 + int(digit-'0')) % 97
		}
	}
	return remainder == 1
}

// isCountry reports whether a text is the ISO 3166-1 code of a country, such as DE.
func isCountry(code string) bool {
	region, err := language.ParseRegion(code)
	return err == nil && region.IsCountry() && region.String() == code
}

// validABA checks a US routing number and its 3-7-1 checksum.
func validABA(number string) bool {
	if !abaForm.MatchString(number) {
		return false
	}
	sum := 0
	for i, weight := range []int{3, 7, 1, 3, 7, 1, 3, 7, 1} {
		sum += weight * int(number[i]-'0')
	}
	return sum%10 == 0
}
