module github.com/moneymovement/moneymovement-go/sandbox/bolt

go 1.26.4

require (
	github.com/moneymovement/moneymovement-go/sandbox v0.1.0
	github.com/stretchr/testify v1.12.1
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
