package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// serve serves a host until ctx ends. Once the host accepts requests, it prints what a caller needs.
func serve(ctx context.Context, a *app.App, o options) (err error) {
	asJSON, err := a.JSON()
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server has closed it, unless it never started
	if o.control && !isLoopback(listener.Addr()) {
		return app.Usagef("-control needs a loopback address, such as -addr 127.0.0.1:8080, and not %s", o.addr)
	}
	keys, err := openKeyFile(o.keyFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keys.close()) }()

	host := sandbox.New(hostOptions(o, keys, a.Err)...)
	walletFile, removeWallet, err := saveWallet(host.Credentials().Wallet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeWallet()) }()
	// The host sets deadlines for reading a request and writing its answer.
	server := &http.Server{Handler: host, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	ready := announcementOf(o, reachable(listener.Addr()), keys.path, walletFile, host.Credentials())
	if err := ready.print(a, asJSON); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return shutDown(server)
	}
}

func hostOptions(o options, keys *keyFile, stderr io.Writer) []sandbox.Option {
	options := []sandbox.Option{
		sandbox.WithEmail(o.email),
		sandbox.WithDeveloperKey(keys.key),
		sandbox.WithHosts(o.hosts...),
		sandbox.WithLogger(slog.New(slog.NewTextHandler(stderr, nil))),
	}
	if o.control {
		options = append(options, sandbox.WithControl())
	}
	if o.instant {
		options = append(options, sandbox.WithInstantProgress())
	}
	if o.rateLimits {
		options = append(options, sandbox.WithRateLimits())
	}
	return options
}

// shutDown lets requests that are under way finish, for at most three seconds.
func shutDown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close()
	}
	return nil
}

func isLoopback(address net.Addr) bool {
	parsed, err := netip.ParseAddrPort(address.String())
	return err == nil && parsed.Addr().Unmap().IsLoopback()
}

// reachable returns the address for callers on this machine: 127.0.0.1 if the host listens on every address.
func reachable(address net.Addr) string {
	parsed, err := netip.ParseAddrPort(address.String())
	if err != nil || !parsed.Addr().IsUnspecified() {
		return address.String()
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), parsed.Port()).String()
}
