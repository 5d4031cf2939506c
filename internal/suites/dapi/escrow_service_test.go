package dapi_test

import (
	"github.com/moneymovement/moneymovement-go/dapi"
)

const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

func deal() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee, HoldFor: "14d"}
}
