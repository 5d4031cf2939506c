package appapi

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/oapi/appapi.yaml -o api.gen.go ../openapi/appapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate go run ../internal/codegen/answers -spec ../openapi/appapi.yaml -package appapi -models api.gen.go -shared-models ../model/common.gen.go -o answers.gen.go
//go:generate go run ../internal/codegen/requests -spec ../openapi/appapi.yaml -models api.gen.go -shared-models ../model/common.gen.go -o requests.gen.go
