package gate

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// HostNames check the name in the Host header of a request. A web page can make its own domain name point to this
// machine (DNS rebinding). The host does not accept such a name, and refuses the request.
//
// They are the accepted names besides the machine's own, which are localhost and its loopback addresses. They are in
// lower case, without a port.
type HostNames []string

// Add returns the names with more names added. A port is removed.
func (n HostNames) Add(more ...string) HostNames {
	for _, name := range more {
		if name, _, ok := splitHostPort(name); ok && name != "" {
			n = append(n[:len(n):len(n)], name)
		}
	}
	return n
}

// Allow reports whether the Host header of a request has an accepted name, and nothing else but a port.
func (n HostNames) Allow(r *http.Request) bool {
	name, _, ok := splitHostPort(r.Host)
	return ok && (isLoopback(name) || slices.Contains(n, name))
}

// AllowControl is Allow for the controls. A loopback name must have the port that the request arrived at: another one
// is that of another program on this machine, which passes requests of its pages on.
func (n HostNames) AllowControl(r *http.Request) bool {
	name, port, _ := splitHostPort(r.Host)
	if !n.Allow(r) {
		return false
	}
	arrived, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || slices.Contains(n, name) {
		return true
	}
	_, own, ok := splitHostPort(arrived.String())
	return !ok || port == own
}

// AllowArrival is Allow for the service's own paths. If names were added, it checks the name on every address. Else it
// checks the name only if the request arrived on a loopback address.
func (n HostNames) AllowArrival(r *http.Request) bool {
	if len(n) == 0 {
		arrived, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !ok || !IsLoopback(arrived.String()) {
			return true
		}
	}
	return n.Allow(r)
}

// IsLoopback reports a loopback address or name, with or without a port.
func IsLoopback(hostPort string) bool {
	name, _, ok := splitHostPort(hostPort)
	return ok && isLoopback(name)
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Zone() == "" && address.Unmap().IsLoopback()
}

// splitHostPort returns the name in lower case, without the brackets of an IPv6 address and without a last dot, and the
// port. If there is no port, it is that of http. It accepts nothing else: a text could have more in it than a reader
// sees, such as localhost:80@example.com.
func splitHostPort(hostPort string) (name, port string, ok bool) {
	name, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		if name, port, err = net.SplitHostPort(hostPort + ":80"); err != nil {
			return "", "", false
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", false
	}
	address, err := netip.ParseAddr(name)
	if strings.HasPrefix(hostPort, "[") != (err == nil && address.Is6()) {
		return "", "", false
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), port, true
}
