// Package model has the resources that more than one surface returns or takes, such as [Invoice], [Contract], [Card] and [PaymentMethod],
// and what their fields are made of: [Number], [Date], [OpenObject], and [Nullable] for the members of an update.
package model

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/oapi/common.yaml -o common.gen.go ../openapi/common.yaml
//go:generate go run ../internal/codegen/answers -spec ../openapi/common.yaml -package answers -shared -shared-models common.gen.go -o ../internal/answers/answers.gen.go
//go:generate go run ../internal/codegen/states -spec ../openapi/common.yaml -package model -o states.gen.go
