package platform

import "strings"

// method is a bank method a contact can hold. Which identifiers a method routes on is the host's decision: the
// description says that they are not shown.
type method struct {
	// currency it pays out. Source: Coverage catalogue, Money out.
	currency string
	// needs lists the account fields that must be there; "a|b" means either one.
	needs string
}

// methods is the coverage catalogue, money out.
var methods = map[string]method{
	"ach": {"USD", "accountNumber routingNumber"}, "fedwire": {"USD", "accountNumber routingNumber"},
	"fednow": {"USD", "accountNumber routingNumber"}, "rtp": {"USD", "accountNumber routingNumber"},
	"swift": {"USD", "bic accountNumber|iban"}, "cad_eft": {"CAD", "accountNumber routingNumber"},
	"spei": {"MXN", "accountNumber"}, "pix": {"BRL", "pixKey"}, "brl_local": {"BRL", "accountNumber branchNumber"},
	"transfers_3_0": {"ARS", "paymentKey|accountNumber"}, "breb": {"COP", "paymentKey"}, "pse": {"COP", "accountNumber"},
	"cop_local": {"COP", "accountNumber"}, "clp_local": {"CLP", "accountNumber"}, "bob_local": {"BOB", "accountNumber"},
	"crc_local": {"CRC", "iban|accountNumber"}, "gtq_local": {"GTQ", "accountNumber"}, "gtq_ewallet": {"GTQ", "phoneNumber"},
	"hnl_local": {"HNL", "accountNumber"}, "dop_local": {"DOP", "accountNumber"}, "dop_ewallet": {"DOP", "phoneNumber"},
	"jmd_local": {"JMD", "accountNumber"}, "sepa": {"EUR", "iban"}, "ukfps": {"GBP", "accountNumber routingNumber"},
	"pln_local": {"PLN", "iban|accountNumber"}, "dkk_local": {"DKK", "iban|accountNumber"},
	"nok_local": {"NOK", "iban|accountNumber"}, "try_fast": {"TRY", "iban"}, "ils_local": {"ILS", "iban|accountNumber"},
	"uaefts": {"AED", "iban"}, "sar_local": {"SAR", "iban"}, "egp_local": {"EGP", "iban|accountNumber"},
	"nip": {"NGN", "accountNumber"}, "xof_local": {"XOF", "accountNumber"}, "sle_local": {"SLE", "accountNumber"},
	"tzs_local": {"TZS", "accountNumber"}, "ugx_local": {"UGX", "accountNumber"}, "zmw_local": {"ZMW", "accountNumber"},
	"npp": {"AUD", "accountNumber routingNumber"}, "jpy_local": {"JPY", "accountNumber"}, "krw_local": {"KRW", "accountNumber"},
	"cny_alipay": {"CNY", "paymentKey|phoneNumber"}, "cny_wechatpay": {"CNY", "paymentKey|phoneNumber"},
	"hkd_fps": {"HKD", "paymentKey|phoneNumber|accountNumber"}, "inr_local": {"INR", "accountNumber routingNumber"},
	"inr_upi": {"INR", "paymentKey"}, "idr_local": {"IDR", "accountNumber"}, "idr_ewallet": {"IDR", "phoneNumber"},
	"myr_local": {"MYR", "accountNumber"}, "php_local": {"PHP", "accountNumber"}, "php_ewallet": {"PHP", "phoneNumber"},
	"pkr_raast": {"PKR", "iban|paymentKey"}, "pkr_ewallet": {"PKR", "phoneNumber"}, "thb_local": {"THB", "accountNumber"},
	"vnd_local": {"VND", "accountNumber"}, "bdt_local": {"BDT", "accountNumber"}, "bdt_ewallet": {"BDT", "phoneNumber"},
}

// needed lists what must be there, each with its alternatives.
func (m method) needed() [][]string {
	var all [][]string
	for _, need := range strings.Fields(m.needs) {
		all = append(all, strings.Split(need, "|"))
	}
	return all
}
