package servers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
)

// The ports that servers get. They are below the ones that Linux, macOS and Windows give to outgoing connections.
// Otherwise a client that dials a server which is down can get the server's own port, and then it talks to itself.
const (
	lowestPort = 15_000
	ports      = 15_000
)

// FreePort returns a loopback port that nobody listens on. Another process can take it before you do.
func FreePort() (int, error) {
	var taken error
	for range portTries {
		offset, err := rand.Int(rand.Reader, big.NewInt(ports))
		if err != nil {
			return 0, err
		}
		port := lowestPort + int(offset.Int64())
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", address(port))
		if err != nil {
			taken = errors.Join(taken, err)
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d: %w", lowestPort, lowestPort+ports, taken)
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
