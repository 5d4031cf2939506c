// Package model has the resources that more than one surface returns or takes, such as [Invoice], [Contract], [Card]
// and [PaymentMethod], and what their fields are made of: [Number], [Date], [OpenObject], and [Nullable] for the
// members of an update.
package model

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/common.yaml -o common.gen.go ../openapi/common.yaml
//go:generate ../internal/tools/run answers -spec ../openapi/common.yaml -package answers -shared -models= -shared-models common.gen.go -o ../internal/answers/answers.gen.go
//go:generate ../internal/tools/run states -spec ../openapi/common.yaml -package model -o states.gen.go
//go:generate ../internal/tools/run readable . ../internal/answers
