package appapi_test

import (
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/model"
)

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"

	profileJSON  = `{"id":"` + id1 + `","email":"a@example.com","firstName":"Ann","isBusiness":true,"kycStatus":"approved","address":{"city":"Oslo"},"createdAt":"2026-01-02T03:04:05Z"}`
	contactJSON  = `{"id":"` + id1 + `","name":"Bob","relationship":"external","account":{"accountType":"email","email":"bob@example.com"},"createdAt":"2026-01-02T03:04:05Z"}`
	invoiceJSON  = `{"id":"` + id1 + `","amount":"120.5","currency":"USD","status":"sent","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","dueDate":"2026-02-01","items":[{"name":"Design","quantity":1.5,"price":"80"}],"discount":"0.5","paymentMethods":[{"accountType":"sepa","ibanNumber":"DE89370400440532013000"}]}`
	contractJSON = `{"id":"` + id1 + `","clientId":"` + id1 + `","contractorId":"` + id2 + `","type":"service","status":"active","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","amount":"3000","currency":"EUR","priorityMethods":["swift-usd"],"client":{"id":"` + id1 + `","isBusiness":true},"fields":{"jobTitle":"Designer"}}`
	cardJSON     = `{"id":"card_1","walletAddress":"0x1","status":"active","label":"Travel","activated":true,"limit":{"dailyLimit":100.25,"dailyUsage":1,"monthlyLimit":1000,"lifetimeLimit":5000,"currency":"USD"},"cardData":{"lastFour":"4242"},"dailySpend":1,"createdAt":"2026-01-02"}`
	quoteJSON    = `{"quoteId":"q_1","sourceAmount":"100","sourceCurrency":"USDC","destinationAmount":"91.37","destinationCurrency":"EUR","rate":"0.9137","fee":"0.5","expiresAt":"2026-01-02T03:06:05Z"}`
	bankListJSON = `{"items":[{"method":"sepa","currency":"EUR","status":"active","bankAccountId":"bnk_1","requisites":{"iban":"DE89370400440532013000"}}],"total":1}`
	statusJSON   = `{"id":"` + id1 + `","quoteId":"q_1","type":"payin","paymentChannel":"bank","status":"pending","fromAmount":100.10,"fromCurrency":"EUR","toAmount":null,"toCurrency":"USDC","createdAt":"2026-01-02T03:04:05Z"}`
	linkJSON     = `{"url":"https://verify.example/1","status":"requested"}`
)

func price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func number(text string) model.Number { return model.NewNumber(price(text)) }

func lines() []model.LineItem {
	return []model.LineItem{{Name: "Design", Quantity: number("1.5"), Price: price("80.00")}}
}
