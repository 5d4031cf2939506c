package billing

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/invoicepdf"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// ownMethods returns the payment methods of an invoice for which none were given: the contractor's wallet on Base if
// the invoice is on chain and the wallet is known, and the contractor's account by its email address.
func (i *invoice) ownMethods(onchain bool) []commonwire.PaymentMethod {
	methods := make([]commonwire.PaymentMethod, 0, 2)
	payee := i.Contractor.Profile
	if onchain && payee.WalletAddress != "" {
		var wallet commonwire.PaymentMethod
		_ = wallet.FromOnchainAccount(commonwire.OnchainAccount{ // strings can always be encoded
			AccountType: commonwire.AccountTypeOnchain, WalletAddress: payee.WalletAddress, ChainID: "base",
			Currency: assetFor(i.Currency),
		})
		methods = append(methods, wallet)
	}
	var account commonwire.PaymentMethod
	_ = account.FromEmailAccount(commonwire.EmailAccount{AccountType: commonwire.AccountTypeEmail, Email: payee.Email})
	return append(methods, account)
}

// assetFor returns the token in which a wallet on Base receives a currency.
func assetFor(currency commonwire.InvoiceCurrency) string {
	if currency == commonwire.InvoiceCurrencyEUR {
		return "EURC"
	}
	return "USDC"
}

// methodLabels are the fields of payment methods that a payer needs, in printing order.
var methodLabels = []struct{ field, label string }{
	{"accountType", "Method"},
	{"method", "Rail"},
	{"beneficiaryName", "Beneficiary"},
	{"accountHolderBusinessName", "Account holder"},
	{"accountHolderFirstName", "Holder's first name"},
	{"accountHolderLastName", "Holder's last name"},
	{"accountHolderAddress", "Holder's address"},
	{"holderTaxId", "Holder's tax id"},
	{"ibanNumber", "IBAN"},
	{"accountNumber", "Account number"},
	{"routingNumber", "Routing number"},
	{"accountKind", "Kind of account"},
	{"bic", "BIC"},
	{"pixKey", "PIX key"},
	{"pixKeyType", "Kind of PIX key"},
	{"paymentKey", "Payment key"},
	{"phoneNumber", "Phone number"},
	{"walletAddress", "Wallet"},
	{"chainId", "Chain"},
	{"email", "Email"},
	{"currency", "Currency"},
	{"bankName", "Bank"},
	{"bankAddress", "Bank's address"},
	{"paymentReference", "Reference"},
}

// addressParts are the members of both address shapes, in printing order.
var addressParts = []string{"streetAddress", "addressLine1", "addressLine2", "zip", "postalCode", "city", "state",
	"country"}

// detailsOf returns a payment method in words.
func detailsOf(method commonwire.PaymentMethod) ([]invoicepdf.Row, error) {
	text, err := method.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	var rows []invoicepdf.Row
	for _, known := range methodLabels {
		switch value := fields[known.field].(type) {
		case string:
			rows = append(rows, invoicepdf.Row{Label: known.label, Value: value})
		case map[string]any:
			rows = append(rows, invoicepdf.Row{Label: known.label, Value: inOneLine(value)})
		}
	}
	return rows, nil
}

func inOneLine(address map[string]any) string {
	var parts []string
	for _, name := range addressParts {
		if part, ok := address[name].(string); ok && part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}
