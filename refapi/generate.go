package refapi

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/oapi/refapi.yaml -o api.gen.go ../openapi/refapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate go run ../internal/codegen/answers -spec ../openapi/refapi.yaml -package refapi -models api.gen.go -shared-models ../model/common.gen.go -o answers.gen.go
//go:generate go run ../internal/codegen/requests -spec ../openapi/refapi.yaml -models api.gen.go -shared-models ../model/common.gen.go -o requests.gen.go
