package descriptions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	fiatCurrencies = "USD EUR GBP JPY CHF CAD AUD NZD SEK NOK AED HKD"

	bankMethods = "sepa swift ach uaefts fedwire rtp fednow pix spei pse breb transfers_3_0 ukfps npp nip bdt_local " +
		"bdt_ewallet bob_local brl_local cad_eft clp_local cny_alipay cny_wechatpay cop_local crc_local " +
		"dkk_local dop_local dop_ewallet egp_local gtq_local gtq_ewallet hkd_fps hnl_local idr_local " +
		"idr_ewallet ils_local inr_local inr_upi jmd_local jpy_local krw_local myr_local nok_local php_local " +
		"php_ewallet pkr_raast pkr_ewallet pln_local sar_local sle_local thb_local try_fast tzs_local " +
		"ugx_local vnd_local xof_local zmw_local"
)

func TestEnumerationsHaveExactlyTheStatedValues(t *testing.T) {
	for _, tt := range []struct {
		file, schema string
		count        int
		values       string
	}{
		{"dapi.yaml", "BankMethod", 57, bankMethods},
		{"common.yaml", "FiatCurrency", 12, fiatCurrencies},
		{"common.yaml", "InvoiceCurrency", 35, fiatCurrencies +
			" BRL MXN USDC USDT DAI SOL BTC ETH NEAR BNB XRP ADA DOGE TRX GRAM AVAX MATIC DOT LTC LINK ARB OP SUI"},
		{"common.yaml", "KYCStatus", 8,
			"not_started requested incorporating pending under_review in_review approved rejected"},
		{"common.yaml", "InvoiceStatus", 6, "draft sent paid cancelled client_paid client_declined"},
		{"common.yaml", "ContractStatus", 6,
			"pending_approval_by_contractor pending_approval_by_client active completed cancelled paused"},
		{"common.yaml", "ContractType", 10,
			"service employment nda contractor default_contractor custom vendor milestone msa other"},
		{"common.yaml", "PriorityMethod", 13,
			"sepa swift ach uaefts fedwire swift-usd swift-eur wire pix crypto card internal refund"},
		{"appapi.yaml", "DocumentKind", 2, "invoice contract"},
	} {
		t.Run(tt.file+" "+tt.schema, func(t *testing.T) {
			schema := object(source(t, tt.file), "components", "schemas", tt.schema)
			require.NotEmpty(t, schema)
			var values []string
			for _, value := range schema["enum"].([]any) {
				values = append(values, value.(string))
			}
			assert.Equal(t, strings.Fields(tt.values), values)
			assert.Len(t, values, tt.count)
			assert.NotContains(t, schema, "x-assumed-values", "all of them are stated")
		})
	}
}

// A value that is assumed is a value of its enumeration.
func TestAssumedValuesExist(t *testing.T) {
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			for value := range object(mapping, "x-assumed-values") {
				assert.Contains(t, mapping["enum"], value, name+pointer)
			}
		})
	}
}
