package servers

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/servers/process"
)

// redis runs a Redis server.
type redis struct {
	settings []Setting
	program  string
	password string
}

func (*redis) name() string        { return "Redis" }
func (*redis) users() []string     { return []string{"redis", "nobody"} }
func (*redis) forget(string) error { return nil }

// find takes Valkey as well, which some systems have in place of Redis.
func (r *redis) find() error {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if program, err := exec.LookPath(name); err == nil {
			r.program = program
			return nil
		}
	}
	return &missingError{"redis-server in PATH", "redis-server"}
}

// prepare writes the configuration. A password on the command line would be visible to everybody on the machine.
func (r *redis) prepare(as *process.Account, folder string) error {
	r.password = rand.Text()
	data := filepath.Join(folder, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	var lines strings.Builder
	for _, s := range append([]Setting{{"bind", "127.0.0.1"}, {"requirepass", r.password}, {"dir", data},
		{"appendonly", "yes"}, {"appendfsync", "always"}, {"save", ""}, {"daemonize", "no"}}, r.settings...) {
		fmt.Fprintf(&lines, "%s %s\n", s.Name, strconv.Quote(s.Value)) // the last one counts
	}
	if err := os.WriteFile(configFile(folder), []byte(lines.String()), 0o600); err != nil {
		return err
	}
	return errors.Join(as.Own(data), as.Own(configFile(folder)))
}

func (r *redis) command(ctx context.Context, folder string, port int) *exec.Cmd {
	command := exec.CommandContext(ctx, r.program, configFile(folder), "--port", strconv.Itoa(port))
	command.Env = environment()
	return command
}

func configFile(folder string) string { return filepath.Join(folder, "redis.conf") }

// ready logs in and sends a PING. Another server on the port does not have the password. While the server reads its
// data, it refuses a PING.
func (r *redis) ready(ctx context.Context, _ string, port, _ int) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp4", address(port))
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(connection, "AUTH %s\r\nPING\r\n", r.password); err != nil {
		return err
	}
	lines := bufio.NewReader(connection)
	for _, want := range []string{"+OK", "+PONG"} {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if got := strings.TrimSpace(line); got != want {
			return fmt.Errorf("got %q, not %q", got, want)
		}
	}
	return nil
}

func (r *redis) url(port int) string {
	return (&url.URL{Scheme: "redis", User: url.UserPassword("", r.password), Host: address(port),
		Path: "/0"}).String()
}
