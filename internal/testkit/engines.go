package testkit

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// postgres runs a PostgreSQL server.
type postgres struct {
	settings []Setting
	programs string // the folder of initdb and postgres
	password string
}

func (*postgres) name() string    { return "PostgreSQL" }
func (*postgres) users() []string { return []string{"postgres", "nobody"} }

// find looks where Debian puts the programs, the newest version first, and then in PATH. Debian keeps them out of PATH.
func (p *postgres) find() error {
	named := os.Getenv(postgresFolder)
	for _, folder := range postgresFolders(named, "/usr/lib/postgresql") {
		if isProgram(filepath.Join(folder, "initdb")) && isProgram(filepath.Join(folder, "postgres")) {
			p.programs = folder
			return nil
		}
	}
	what := "PostgreSQL's programs initdb and postgres"
	if named != "" {
		what += " in " + named + " (" + postgresFolder + ")"
	}
	return &missingError{what, "postgresql"}
}

func postgresFolders(named, debian string) []string {
	if named != "" {
		return []string{named}
	}
	folders, err := filepath.Glob(filepath.Join(debian, "*", "bin"))
	if err != nil {
		folders = nil // a file system without such a folder
	}
	version := func(folder string) int {
		number, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if err != nil {
			return 0
		}
		return number
	}
	slices.SortFunc(folders, func(a, b string) int { return version(b) - version(a) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if program, err := filepath.EvalSymlinks(initdb); err == nil { // a link may stand apart from the other programs
			folders = append(folders, filepath.Dir(program))
		}
		folders = append(folders, filepath.Dir(initdb))
	}
	return folders
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// prepare makes the data folder. What initdb writes is not flushed to the disk: only a crash of the machine loses it.
func (p *postgres) prepare(as *Account, folder string) error {
	p.password = rand.Text()
	secret := filepath.Join(folder, "password")
	if err := os.WriteFile(secret, []byte(p.password), 0o600); err != nil {
		return err
	}
	if err := as.Own(secret); err != nil {
		return err
	}
	data := filepath.Join(folder, "data")
	initdb := exec.CommandContext(context.Background(), filepath.Join(p.programs, "initdb"), "--pgdata="+data,
		"--username=postgres", "--pwfile="+secret, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	as.Run(initdb)
	initdb.Dir, initdb.Env = folder, environment()
	if said, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, tail(string(said), 20))
	}
	var lines strings.Builder
	for _, s := range append([]Setting{{"listen_addresses", "127.0.0.1"}, {"unix_socket_directories", ""},
		{"dynamic_shared_memory_type", "mmap"}, // in its folder: a killed server would leave it in /dev/shm
		{"fsync", "on"}, {"synchronous_commit", "on"}, {"full_page_writes", "on"}}, p.settings...) {
		fmt.Fprintf(&lines, "%s = '%s'\n", s.Name, strings.ReplaceAll(s.Value, "'", "''")) // the last one counts
	}
	config, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = config.WriteString(lines.String())
	return errors.Join(err, config.Close())
}

func (p *postgres) command(ctx context.Context, folder string, port int) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(p.programs, "postgres"), "-D", filepath.Join(folder, "data"),
		"-p", strconv.Itoa(port))
	command.Env = environment()
	return command
}

// ready reads the file in which the server keeps its process and its state, as pg_ctl does. A connection would not
// show which server it reached.
func (*postgres) ready(_ context.Context, folder string, _, id int) error {
	text, err := os.ReadFile(lockFile(folder))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 8 || strings.TrimSpace(lines[0]) != strconv.Itoa(id) {
		return errors.New("the server has not taken its folder")
	}
	if state := strings.TrimSpace(lines[7]); state != "ready" {
		return fmt.Errorf("the server is %q", state)
	}
	return nil
}

// forget removes the lock file. All processes of the server are gone. If another process has got the number in the
// file, the server would take that process for itself, and not start.
func (*postgres) forget(folder string) error {
	if err := os.Remove(lockFile(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func lockFile(folder string) string { return filepath.Join(folder, "data", "postmaster.pid") }

func (p *postgres) url(port int) string {
	return (&url.URL{Scheme: "postgres", User: url.UserPassword("postgres", p.password), Host: address(port),
		Path: "/postgres", RawQuery: "sslmode=disable"}).String()
}

// environment keeps PGDATA, PGPORT and others of the test's environment from the server.
func environment() []string { return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"} }

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
func (r *redis) prepare(as *Account, folder string) error {
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
