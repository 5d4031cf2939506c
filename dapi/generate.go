package dapi

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/oapi/dapi.yaml -o api.gen.go ../openapi/dapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate go run ../internal/codegen/answers -spec ../openapi/dapi.yaml -package dapi -models api.gen.go -shared-models ../model/common.gen.go -o answers.gen.go
//go:generate go run ../internal/codegen/requests -spec ../openapi/dapi.yaml -models api.gen.go -shared-models ../model/common.gen.go -o requests.gen.go
//go:generate go run ../internal/codegen/coverage ../openapi/coverage.yaml coverage.gen.go
//go:generate go run ../internal/codegen/states -spec ../openapi/dapi.yaml -package dapi -o states.gen.go
