package dapi_test

const (
	clientJSON = `{"id":"cl_1","email":"a@example.com","status":"ready","baseSmartWallet":"0x52908400098527886E0F7030069857D2E4169EE7","balances":[{"currency":"USDC","available":"1.5"}],"createdAt":"2026-01-02T03:04:05Z"}`
	railJSON   = `{"method":"sepa","currency":"EUR","status":"active","virtualAccount":{"id":"bnk_1","requisites":{"iban":"DE89370400440532013000"}}}`
	payinJSON  = `{"id":"pi_1","status":"quoted","createdAt":"2026-01-02T03:04:05Z"}`
	contactRes = `{"id":"ct_1","name":"Bob","isExternal":false,"createdAt":"2026-01-02T03:04:05Z"}`
	payoutJSON = `{"id":"po_1","status":"processing","idempotencyKey":"k","contactId":"ct_1","amount":"25","currency":"USDC","createdAt":"2026-01-02T03:04:05Z"}`
	escrowJSON = `{"id":"esc_1","status":"active","availableActions":["release"],"idempotencyKey":"k"}`
	txJSON     = `{"id":"tx_1","type":"deposit","direction":"in","amount":"10","currency":"USDC","status":"completed","createdAt":"2026-01-02T03:04:05Z"}`
)
