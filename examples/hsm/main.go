// Hsm logs in and pays with a key that never leaves its module: GOWORK=off go -C examples/hsm run .
//
// Without flags, it makes a token of SoftHSM and a key in it, and removes both at the end. With -key it uses a key of
// yours, over PKCS #11. It needs cgo, and so is a module of its own. docs/hsm.md is its page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shopspring/decimal"
	"go.step.sm/crypto/kms"
	"go.step.sm/crypto/kms/apiv1"
	_ "go.step.sm/crypto/kms/pkcs11" // for keys that begin with pkcs11:

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "hsm:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("hsm", flag.ContinueOnError)
	flags.SetOutput(out)
	uri := flags.String("key", "", "`address` of the key, such as "+
		"pkcs11:module-path=/usr/lib/softhsm/libsofthsm2.so;token=payments;id=01;object=developer?pin-source=/run/pin")
	create := flags.Bool("create", false, "make the key first, as an ECDSA key on P-256 that cannot be exported")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *uri == "" {
		if *create {
			return errors.New("-create needs -key, the address of the key that it makes")
		}
		if !withPKCS11 {
			return errNoCgo
		}
		folder, err := os.MkdirTemp("", "moneymovement-hsm-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		if *uri, err = softToken(ctx, folder); err != nil {
			return err
		}
		*create = true
		fmt.Fprintln(out, "• made a token of SoftHSM")
	}
	module, key, err := open(ctx, *uri, *create)
	if err != nil {
		return withoutPIN(err, *uri)
	}
	defer func() { err = errors.Join(err, module.Close()) }()
	fmt.Fprintf(out, "• the key is %v; it cannot be saved: %v\n", key, key.Save("developer.pem"))
	return pay(ctx, key, out)
}

// open opens the module that has the key, and returns the key for the SDK. Close the module when the program ends.
func open(ctx context.Context, uri string, create bool) (kms.KeyManager, *signing.DeveloperKey, error) {
	kind, err := kms.TypeOf(uri)
	if err == nil {
		if kind == apiv1.PKCS11 && !withPKCS11 {
			return nil, nil, errNoCgo
		}
		_, linked := apiv1.LoadKeyManagerNewFunc(kind)
		if !linked && slices.Contains([]apiv1.Type{apiv1.AmazonKMS, apiv1.AzureKMS, apiv1.CloudKMS}, kind) {
			return nil, nil, fmt.Errorf("this program has no client for keys of %s: build it with -tags cloud", kind)
		}
	}
	module, err := kms.New(ctx, apiv1.Options{URI: uri})
	if err != nil {
		if kind == apiv1.PKCS11 {
			err = fmt.Errorf("%s cannot be opened: %w; look at the file of the module, the label of the token, the "+
				"PIN and its file, as the user who runs this program", withoutValueOfPIN(uri), err)
		}
		return nil, nil, err
	}
	key, err := keyOf(module, uri, create)
	if err != nil {
		return nil, nil, errors.Join(err, module.Close())
	}
	return module, key, nil
}

// errNoCgo says what a program that was built without cgo lacks.
var errNoCgo = errors.New("this program is compiled without cgo, which PKCS #11 needs: install a C compiler, do not " +
	"set CGO_ENABLED=0, and build it again")

// withoutValueOfPIN returns an address without all that may be its PIN.
func withoutValueOfPIN(uri string) string {
	scheme, rest, _ := strings.Cut(uri, ":")
	place, query, _ := strings.Cut(rest, "?")
	public := func(text, separator string) string {
		return strings.Join(slices.DeleteFunc(strings.Split(text, separator), func(part string) bool {
			name, _, _ := strings.Cut(part, "=")
			return !slices.Contains([]string{"module-path", "token", "serial", "slot-id", "id", "object", "pin-source"},
				name)
		}), separator)
	}
	shown := scheme + ":" + public(place, ";")
	if query = public(query, "&"); query != "" {
		shown += "?" + query
	}
	return shown
}

// withoutPIN returns the error without the address of the key, which errors of the library repeat: it can have the PIN.
func withoutPIN(err error, uri string) error {
	const pin = "pin-value"
	if !strings.Contains(strings.ToLower(err.Error()), pin) {
		return err
	}
	text := err.Error()
	for _, repeated := range []string{strconv.Quote(uri), uri} {
		text = strings.ReplaceAll(text, repeated, "the address of -key")
	}
	if strings.Contains(strings.ToLower(text), pin) {
		text = "the address of -key cannot be used, and the error is not shown, because it repeats its PIN"
	}
	return errors.New(text)
}

func keyOf(module kms.KeyManager, uri string, create bool) (*signing.DeveloperKey, error) {
	if create {
		request := &apiv1.CreateKeyRequest{Name: uri, SignatureAlgorithm: apiv1.ECDSAWithSHA256}
		if _, err := module.CreateKey(request); err != nil {
			return nil, err
		}
	}
	signer, err := module.CreateSigner(&apiv1.CreateSignerRequest{SigningKey: uri})
	if err != nil {
		return nil, err
	}
	return signing.FromSigner(signer)
}

// pay pays a bank account on a sandbox host of its own, with which it registers the public half of the key. At the
// service, you register it in the service's application.
func pay(ctx context.Context, key *signing.DeveloperKey, out io.Writer) error {
	host, address, stop, err := serve()
	if err != nil {
		return err
	}
	defer stop()
	const email = "ops@example.com"
	if _, err := host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: key.PublicKey()}); err != nil {
		return err
	}
	account, err := dapi.NewSelfServe(address, dapi.Developer{Email: email, Key: key},
		moneymovement.WithPolling(25*time.Millisecond, time.Second))
	if err != nil {
		return err
	}
	deposit := dapi.DepositCreate{Amount: decimal.NewFromInt(20), Currency: dapi.USDC}
	if _, err := account.Sandbox.Deposit(ctx, deposit); err != nil {
		return err
	}
	fmt.Fprintln(out, "• logged in with the key")
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Example supplier"})})
	if err != nil {
		return err
	}
	payment, err := account.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: supplier.ID,
		Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC},
		moneymovement.DeriveKey("hsm", "invoice", "42", "1"), dapi.PayTerms{})
	if err != nil {
		return err
	}
	payout, err := account.Payouts.Wait(ctx, payment.Payout.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "• the payment is %s: payout of %s %s is %s\n", payment.State, payout.Amount, payout.Currency,
		payout.Status)
	return nil
}

// serve starts a sandbox host on loopback.
func serve() (host *sandbox.Host, address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	host = sandbox.New(sandbox.WithInstantProgress())
	server := &http.Server{Handler: host, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return host, "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
