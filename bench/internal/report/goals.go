package report

// goals are the ratios of wall time that the SDK should reach on Go 1.26 and on Go 1.27. Other rows have none.
var goals = map[string]string{
	"memory/get": "0.40, 0.60", "memory/get-unknown": "0.44, 0.66", "memory/get-greek": "0.44, 0.66",
	"memory/get-other": "0.44, 0.66",
	"memory/page":      "0.25, 0.45", "memory/page-unknown": "0.28, 0.50", "memory/page-greek": "0.28, 0.50",
	"memory/page-other": "0.28, 0.50",
	"memory/write":      "0.50, 0.65", "memory/iterate": "0.25, 0.45",
	"memory/error-404": "0.75, 1.0", "memory/error-409": "0.85, 1.2", "memory/pay": "1.1, 1.1",
	"tcp/get": "0.80, 1.0", "tcp/write": "0.85, 1.0", "tcp/page": "0.30, 1.0", "tcp/error-404": "0.95, 1.0",
}
