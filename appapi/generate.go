package appapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/appapi.yaml -o api.gen.go ../openapi/appapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/appapi.yaml -package appapi
//go:generate ../internal/tools/run requests -spec ../openapi/appapi.yaml
//go:generate ../internal/tools/run readable -unexport BalanceList,BankActivation,BankList,CardLabelUpdate,ContractTemplateList,PaymentMethodsReplacement,QuoteSubmission,TransferCreate .
