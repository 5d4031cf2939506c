package platformwire

import (
	"slices"
	"strings"
)

// CoverageRail is a rail that an account can have, with the currency that it receives.
type CoverageRail struct {
	Method   BankMethod
	Currency string
}

// CoverageRails are the methods of incoming money. Each method receives one currency, so it identifies its rail.
var CoverageRails = []CoverageRail{
	{"ach", "USD"}, {"fedwire", "USD"}, {"swift", "USD"}, {"sepa", "EUR"}, {"ukfps", "GBP"}, {"uaefts", "AED"},
	{"pix", "BRL"},
	{"spei", "MXN"}, {"npp", "AUD"}, {"nip", "NGN"}, {"breb", "COP"}, {"pse", "COP"}, {"transfers_3_0", "ARS"},
}

// CoverageRailOf finds the rail of a method.
func CoverageRailOf(method BankMethod) (CoverageRail, bool) {
	i := slices.IndexFunc(CoverageRails, func(r CoverageRail) bool { return r.Method == method })
	if i < 0 {
		return CoverageRail{}, false
	}
	return CoverageRails[i], true
}

// CoverageMethod is a bank method of a contact. The host decides which identifiers a method needs: the description does
// not show them.
type CoverageMethod struct {
	// Currency is what the method pays out.
	Currency string
	// needs lists the required account fields. "a|b" means one of the two.
	needs string
}

// CoverageMethods are the methods of outgoing money, by name.
var CoverageMethods = map[string]CoverageMethod{
	"ach": {"USD", "accountNumber routingNumber"}, "fedwire": {"USD", "accountNumber routingNumber"},
	"fednow": {"USD", "accountNumber routingNumber"}, "rtp": {"USD", "accountNumber routingNumber"},
	"swift": {"USD", "bic accountNumber|iban"}, "cad_eft": {"CAD", "accountNumber routingNumber"},
	"spei": {"MXN", "accountNumber"}, "pix": {"BRL", "pixKey"}, "brl_local": {"BRL", "accountNumber branchNumber"},
	"transfers_3_0": {"ARS", "paymentKey|accountNumber"}, "breb": {"COP", "paymentKey"},
	"pse":       {"COP", "accountNumber"},
	"cop_local": {"COP", "accountNumber"}, "clp_local": {"CLP", "accountNumber"}, "bob_local": {"BOB", "accountNumber"},
	"crc_local": {"CRC", "iban|accountNumber"}, "gtq_local": {"GTQ", "accountNumber"},
	"gtq_ewallet": {"GTQ", "phoneNumber"},
	"hnl_local":   {"HNL", "accountNumber"}, "dop_local": {"DOP", "accountNumber"},
	"dop_ewallet": {"DOP", "phoneNumber"},
	"jmd_local":   {"JMD", "accountNumber"}, "sepa": {"EUR", "iban"}, "ukfps": {"GBP", "accountNumber routingNumber"},
	"pln_local": {"PLN", "iban|accountNumber"}, "dkk_local": {"DKK", "iban|accountNumber"},
	"nok_local": {"NOK", "iban|accountNumber"}, "try_fast": {"TRY", "iban"}, "ils_local": {"ILS", "iban|accountNumber"},
	"uaefts": {"AED", "iban"}, "sar_local": {"SAR", "iban"}, "egp_local": {"EGP", "iban|accountNumber"},
	"nip": {"NGN", "accountNumber"}, "xof_local": {"XOF", "accountNumber"}, "sle_local": {"SLE", "accountNumber"},
	"tzs_local": {"TZS", "accountNumber"}, "ugx_local": {"UGX", "accountNumber"}, "zmw_local": {"ZMW", "accountNumber"},
	"npp": {"AUD", "accountNumber routingNumber"}, "jpy_local": {"JPY", "accountNumber"},
	"krw_local":  {"KRW", "accountNumber"},
	"cny_alipay": {"CNY", "paymentKey|phoneNumber"}, "cny_wechatpay": {"CNY", "paymentKey|phoneNumber"},
	"hkd_fps": {"HKD", "paymentKey|phoneNumber|accountNumber"}, "inr_local": {"INR", "accountNumber routingNumber"},
	"inr_upi": {"INR", "paymentKey"}, "idr_local": {"IDR", "accountNumber"}, "idr_ewallet": {"IDR", "phoneNumber"},
	"myr_local": {"MYR", "accountNumber"}, "php_local": {"PHP", "accountNumber"}, "php_ewallet": {"PHP", "phoneNumber"},
	"pkr_raast": {"PKR", "iban|paymentKey"}, "pkr_ewallet": {"PKR", "phoneNumber"},
	"thb_local": {"THB", "accountNumber"},
	"vnd_local": {"VND", "accountNumber"}, "bdt_local": {"BDT", "accountNumber"}, "bdt_ewallet": {"BDT", "phoneNumber"},
}

// Needed lists the required account fields, each with its alternatives.
func (m CoverageMethod) Needed() [][]string {
	var all [][]string
	for _, need := range strings.Fields(m.needs) {
		all = append(all, strings.Split(need, "|"))
	}
	return all
}
