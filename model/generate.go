package model

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/common.yaml -o common.gen.go ../openapi/common.yaml
//go:generate ../internal/tools/run comments common.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/common.yaml -package answers -shared -shared-models common.gen.go -o ../internal/answers/answers.gen.go
