// Package hostname checks the name in the Host header of a request. A web page can make its own domain name point to
// this machine (DNS rebinding). The host does not accept such a name, and refuses the request.
package hostname

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Names are the accepted names of the host, besides the machine's own: localhost, and its loopback addresses. They are
// in lower case, without a port.
type Names []string

// Add returns the names with more names added. A port is removed.
func (n Names) Add(more ...string) Names {
	for _, name := range more {
		if name = bare(name); name != "" {
			n = append(n[:len(n):len(n)], name)
		}
	}
	return n
}

// Allow reports whether the Host header of a request has an accepted name.
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

// AllowArrival is Allow for the service's own paths. If names were added, it checks the name on every address. Else it
// checks the name only if the request arrived on a loopback address.
func (n Names) AllowArrival(r *http.Request) bool {
	if len(n) == 0 {
		arrived, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !ok || !IsLoopback(arrived.String()) {
			return true
		}
	}
	return n.Allow(r)
}

// IsLoopback reports a loopback address or name, with or without a port.
func IsLoopback(hostPort string) bool { return isLoopback(bare(hostPort)) }

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback()
}

// bare returns a name in lower case, without port, without the brackets of an IPv6 address, and without a last dot.
func bare(hostPort string) string {
	name, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
