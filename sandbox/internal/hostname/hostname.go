// Package hostname checks the name in the Host header of a request. A web page can make its own domain name point to
// this machine (DNS rebinding). The host does not accept such a name, and refuses the request.
package hostname

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Names are the names that the host is called by, beside those of the machine itself: localhost, and its loopback
// addresses. They are in lower case, without a port.
type Names []string

// Add returns the names together with more, each with a port or without.
func (n Names) Add(more ...string) Names {
	for _, name := range more {
		if name = bare(name); name != "" {
			n = append(n[:len(n):len(n)], name)
		}
	}
	return n
}

// Allow reports whether a request asks for the host by one of its names.
func (n Names) Allow(r *http.Request) bool {
	asked := bare(r.Host)
	if isLoopback(asked) {
		return true
	}
	for _, name := range n {
		if name == asked {
			return true
		}
	}
	return false
}

// AllowArrival is Allow for the service's own paths. It checks the name if the request arrived on a loopback address,
// and on every address once names were added. Other requests, and those without a connection, may use any name.
func (n Names) AllowArrival(r *http.Request) bool {
	if len(n) == 0 {
		arrived, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !ok || !IsLoopback(arrived.String()) {
			return true
		}
	}
	return n.Allow(r)
}

// IsLoopback judges an address or a name, with a port or without.
func IsLoopback(hostPort string) bool { return isLoopback(bare(hostPort)) }

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback()
}

// bare is a name in lower case without its port, the brackets of an IPv6 address and the dot of the root.
func bare(hostPort string) string {
	name, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
