package public

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/oapi/public.yaml -o api.gen.go ../openapi/public.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate go run ../internal/codegen/answers -spec ../openapi/public.yaml -package public -models api.gen.go -shared-models ../model/common.gen.go -o answers.gen.go
//go:generate go run ../internal/codegen/requests -spec ../openapi/public.yaml -models api.gen.go -shared-models ../model/common.gen.go -o requests.gen.go
