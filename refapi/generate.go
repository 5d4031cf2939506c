package refapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/refapi.yaml -o api.gen.go ../openapi/refapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/refapi.yaml -package refapi
//go:generate ../internal/tools/run requests -spec ../openapi/refapi.yaml
//go:generate ../internal/tools/run readable -unexport MerchantProductList,ValidationErrorItem,WebhookAcknowledgement .
