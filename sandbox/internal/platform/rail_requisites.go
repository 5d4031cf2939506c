package platform

import (
	"cmp"
	"crypto/sha256"
	"fmt"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

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
