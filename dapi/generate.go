package dapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/dapi.yaml -o api.gen.go ../openapi/dapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run answers -spec ../openapi/dapi.yaml -package dapi
//go:generate ../internal/tools/run requests -spec ../openapi/dapi.yaml
//go:generate ../internal/tools/run coverage ../openapi/coverage.yaml api.gen.go coverage.gen.go
//go:generate ../internal/tools/run states -spec ../openapi/dapi.yaml -package dapi -o states.gen.go
//go:generate ../internal/tools/run readable -unexport ApprovalConfirm,Challenge,ChallengeRequest,EscrowActionCreate,PayoutStatusUpdate,PreparedEscrowAction,RefreshRequest,TokenGrant,TokenRequest .
