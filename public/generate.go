package public

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/public.yaml -o api.gen.go ../openapi/public.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/public.yaml -package public
//go:generate ../internal/tools/run requests -spec ../openapi/public.yaml
//go:generate ../internal/tools/run readable .
