package testkit

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// client is a connection to PostgreSQL: enough to make a database, and to check a server, without a driver. It speaks
// version 3.0 of the protocol without TLS.
type client struct {
	connection net.Conn
	reader     *bufio.Reader
}

// longestMessage is far more than a server sends to these statements.
const longestMessage = 1 << 20

// dial connects and logs in, until the context ends.
func dial(ctx context.Context, server string) (*client, error) {
	at, err := url.Parse(server)
	if err != nil {
		return nil, errors.New("the server's address is not a URL") // the error would quote the password
	}
	host := at.Host
	if at.Port() == "" {
		host = net.JoinHostPort(at.Hostname(), "5432")
	}
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	if end, set := ctx.Deadline(); set {
		if err := connection.SetDeadline(end); err != nil {
			return nil, errors.Join(err, connection.Close())
		}
	}
	c := &client{connection: connection, reader: bufio.NewReader(connection)}
	if err := c.login(at); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return c, nil
}

// login sends the user and the database, and proves that it knows the password.
func (c *client) login(at *url.URL) error {
	name := strings.TrimPrefix(at.Path, "/")
	if name == "" {
		name = at.User.Username()
	}
	body := binary.BigEndian.AppendUint32(nil, 3<<16)
	for _, text := range []string{"user", at.User.Username(), "database", name, ""} {
		body = append(append(body, text...), 0)
	}
	if err := c.write(0, body); err != nil {
		return err
	}
	password, _ := at.User.Password()
	proof := scram{password: password}
	_, err := c.until(func(kind byte, body []byte) error {
		if kind != 'R' {
			return nil
		}
		response, err := authenticate(&proof, password, body)
		if err != nil || response == nil {
			return err
		}
		return c.write('p', response)
	})
	return err
}

// authenticate returns the response to a request of the server, or nil if it needs none.
func authenticate(proof *scram, password string, request []byte) ([]byte, error) {
	if len(request) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	kind, rest := binary.BigEndian.Uint32(request), request[4:]
	switch kind {
	case 0: // logged in
		return nil, nil
	case 3: // wants the password as it is
		return append([]byte(password), 0), nil
	case 10: // offers SCRAM
		if !strings.Contains("\x00"+string(rest), "\x00"+scramName+"\x00") {
			return nil, errors.New("the server offers no way to log in that this package knows: want " + scramName)
		}
		first := proof.first()
		response := append([]byte(scramName), 0)
		response = binary.BigEndian.AppendUint32(response, uint32(len(first))) //gosec:disable G115 -- some 30 bytes
		return append(response, first...), nil
	case 11:
		return proof.final(string(rest))
	case 12:
		return nil, proof.verify(string(rest))
	default:
		return nil, fmt.Errorf("the server wants to log in by method %d: want %s or a password", kind, scramName)
	}
}

// query runs a statement, and returns the first column of its rows as text.
func (c *client) query(statement string) ([]string, error) {
	if err := c.write('Q', append([]byte(statement), 0)); err != nil {
		return nil, err
	}
	return c.until(func(byte, []byte) error { return nil })
}

// until reads messages until the server is ready for the next statement. It returns the first column of the rows, and
// the server's error.
func (c *client) until(each func(kind byte, body []byte) error) (rows []string, err error) {
	for {
		kind, body, failed := c.read()
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		switch kind {
		case 'Z':
			return rows, err
		case 'E':
			err = errors.Join(err, serverError(body))
		case 'D':
			rows = append(rows, firstColumn(body))
		default:
			if failed := each(kind, body); failed != nil {
				return nil, failed
			}
		}
	}
}

// firstColumn reads a row: the number of columns, and for each its length and bytes. A length below zero is NULL.
func firstColumn(row []byte) string {
	if len(row) < 6 || int32(binary.BigEndian.Uint32(row[2:])) < 0 { //gosec:disable G115 -- as the protocol has it
		return ""
	}
	size := int(binary.BigEndian.Uint32(row[2:]))
	return string(row[6:min(len(row), 6+size)])
}

// serverError reads the severity, the code and the text from an error message.
func serverError(body []byte) error {
	said := map[byte]string{}
	for field := range strings.SplitSeq(string(body), "\x00") {
		if field != "" {
			said[field[0]] = field[1:]
		}
	}
	return fmt.Errorf("%s %s: %s", said['S'], said['C'], said['M'])
}

// write sends a message. The first message of a connection has no kind.
func (c *client) write(kind byte, body []byte) error {
	var message []byte
	if kind != 0 {
		message = append(message, kind)
	}
	message = binary.BigEndian.AppendUint32(message, uint32(len(body)+4)) //gosec:disable G115 -- short statements
	_, err := c.connection.Write(append(message, body...))
	return err
}

func (c *client) read() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(c.reader, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > longestMessage {
		return 0, nil, fmt.Errorf("a message of %d bytes: this is not PostgreSQL", size)
	}
	body = make([]byte, size-4)
	_, err = io.ReadFull(c.reader, body)
	return head[0], body, err
}

// close says goodbye and closes the connection.
func (c *client) close() error { return errors.Join(c.write('X', nil), c.connection.Close()) }

// scramName is how PostgreSQL logs in since version 14: RFC 7677, without channel binding.
const scramName = "SCRAM-SHA-256"

// scram is the client's side of one login.
type scram struct {
	password  string
	nonce     string
	bare      string // the first message without its header
	signature []byte // of the server, which it must send at the end
}

// noBinding says that the connection has no TLS to bind the login to; "biws" is its base64.
const noBinding = "n,,"

func (s *scram) first() string {
	s.nonce = rand.Text()
	s.bare = "n=,r=" + s.nonce // the name of the user is in the message before
	return noBinding + s.bare
}

// final proves that the client knows the password, without sending it.
func (s *scram) final(challenge string) ([]byte, error) {
	fields := attributes(challenge)
	salt, errSalt := base64.StdEncoding.DecodeString(fields["s"])
	rounds, errRounds := strconv.Atoi(fields["i"])
	if err := errors.Join(errSalt, errRounds); err != nil {
		return nil, fmt.Errorf("the server's challenge: %w", err)
	}
	if s.nonce == "" || !strings.HasPrefix(fields["r"], s.nonce) || rounds < 1 || rounds > 1_000_000 {
		return nil, errors.New("the server's challenge is not for this login")
	}
	salted, err := pbkdf2.Key(sha256.New, s.password, salt, rounds, sha256.Size)
	if err != nil {
		return nil, err
	}
	without := "c=biws,r=" + fields["r"]
	signed := s.bare + "," + challenge + "," + without
	key := mac(salted, "Client Key")
	stored := sha256.Sum256(key)
	proof := make([]byte, sha256.Size)
	subtle.XORBytes(proof, key, mac(stored[:], signed))
	s.signature = mac(mac(salted, "Server Key"), signed)
	return []byte(without + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

// verify checks that the server knows the password as well.
func (s *scram) verify(last string) error {
	signature, err := base64.StdEncoding.DecodeString(attributes(last)["v"])
	if err != nil || s.signature == nil || !hmac.Equal(signature, s.signature) {
		return errors.New("the server does not know the password")
	}
	return nil
}

func mac(key []byte, text string) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(text))
	return hash.Sum(nil)
}

// attributes reads text such as "r=nonce,s=salt,i=4096".
func attributes(text string) map[string]string {
	found := map[string]string{}
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		found[name] = value
	}
	return found
}
