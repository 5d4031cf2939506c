package refapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/refapi.yaml -o api.gen.go ../openapi/refapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/refapi.yaml -package refapi -models api.gen.go -shared-models ../model/common.gen.go -o answers.gen.go
//go:generate ../internal/tools/run requests -spec ../openapi/refapi.yaml -models api.gen.go -shared-models ../model/common.gen.go -o requests.gen.go
