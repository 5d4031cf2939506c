package dapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/dapi.yaml -o api.gen.go ../openapi/dapi.yaml
//go:generate ../internal/tools/run comments api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/dapi.yaml -package dapi -models api.gen.go -o answers.gen.go
//go:generate ../internal/tools/run requests -spec ../openapi/dapi.yaml -models api.gen.go -o requests.gen.go
//go:generate ../internal/tools/run coverage ../openapi/coverage.yaml coverage.gen.go
