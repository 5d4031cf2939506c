package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const source = `package shop

import "io"

type (
	Price  int
	price  int
	Prices []Price
	Cart   struct {
		hidden
		io.Reader
		Items []Price
		total price
	}
	hidden struct {
		Seen bool
		last bool
	}
	Clock interface {
		Now() (hour int)
		set()
	}
	Open interface{ io.Closer }
	Box[T any] struct{ In T }
	Mine  = hidden
	Other = Price
)

const (
	Lowest Price = 1
	lowest Price = 0
	Name         = "shop"
)

var Default, none *Cart

func New(prices ...Price) (*Cart, error) { return nil, nil }
func open()                              {}

func (c *Cart) Pay(price Price) error   { return nil }
func (c Cart) Total() Price             { return 0 }
func (c *Cart) pay()                    {}
func (h *hidden) Look(at func(b bool))  {}
func (b *Box[T]) Take() T               { return b.In }
`

const wanted = `package shop // import "example.com/shop"

type Box[T any] struct // T any
field Box[T any].In T
method (*Box[T any]) Take() T
type Cart struct
field Cart.Seen bool
field Cart.Reader io.Reader // embedded
field Cart.Items []Price
method (*Cart) Look(at func(b bool))
method (*Cart) Pay(price Price) error
method (Cart) Read(p []byte) (n int, err error)
method (Cart) Total() Price
type Clock interface
method (Clock) Now() (hour int)
method (Clock) unexported
var Default *Cart
const Lowest Price = 1
type Mine = hidden
type Mine struct
field Mine.Seen bool
method (*Mine) Look(at func(b bool))
const Name untyped string = "shop"
func New(prices ...Price) (*Cart, error)
type Open interface
method (Open) Close() error
type Other = Price
type Price int
type Prices []Price
`

func TestTextOfAPackage(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "shop.go", source, 0)
	require.NoError(t, err)
	config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	pkg, err := config.Check("example.com/shop", files, []*ast.File{file}, nil)
	require.NoError(t, err)
	assert.Equal(t, wanted, string(textOf(pkg)))
}

func TestFileNames(t *testing.T) {
	for path, want := range map[string]string{
		root: "moneymovement-go.txt", root + "/dapi": "dapi.txt", root + "/signing/wallet": "signing.wallet.txt",
	} {
		assert.Equal(t, want, fileName(path))
	}
	assert.True(t, internal(root+"/internal/wire"))
	assert.False(t, internal(root+"/internals"))
}
