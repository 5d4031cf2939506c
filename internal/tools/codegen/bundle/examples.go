package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// start is the time of all examples.
var start = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// exchange is one recorded request with its response.
type exchange struct {
	variant        string
	status         string
	request, reply *yaml.Node // nil without a JSON body
	size           int
}

// exchanges are the recorded ones: those that succeeded by operation, such as dapi.BookPayout, and the bodies of
// refusals by surface and slug.
type exchanges struct {
	made     map[string][]exchange
	refusals map[string]map[string]*yaml.Node
}

func recordedExchanges(bundles []*bundle) (exchanges, error) {
	found := exchanges{made: map[string][]exchange{}, refusals: map[string]map[string]*yaml.Node{}}
	recordings, err := recorded.All(start)
	if err != nil {
		return found, err
	}
	find := finder(bundles)
	for _, example := range slices.Sorted(maps.Keys(recordings)) {
		var known story
		for _, recording := range recordings[example] {
			if recording.Answer.Lost {
				continue
			}
			surface, operation := find(recording.Method, recording.Path)
			if surface == "" {
				return found, fmt.Errorf("%s: no operation is %s %s", example, recording.Method, recording.Path)
			}
			e := exchange{status: fmt.Sprint(recording.Answer.Status),
				size: len(recording.Body) + len(recording.Answer.Body)}
			for body, into := range map[string]**yaml.Node{
				string(recording.Body): &e.request, string(recording.Answer.Body): &e.reply,
			} {
				if body == "" {
					continue
				}
				if *into, err = fromJSON([]byte(body)); err != nil {
					return found, err
				}
			}
			if err := known.complete(operation, &e); err != nil {
				return found, fmt.Errorf("%s: %w", example, err)
			}
			if code := at(e.reply, "error", "code"); code != nil {
				if found.refusals[surface] == nil {
					found.refusals[surface] = map[string]*yaml.Node{}
				}
				if found.refusals[surface][code.Value] == nil {
					found.refusals[surface][code.Value] = e.reply
				}
			} else {
				found.made[surface+"."+operation] = append(found.made[surface+"."+operation], e)
			}
		}
	}
	return found, nil
}

// finder returns a function that finds the operation of a request. A path without parameters wins.
func finder(bundles []*bundle) func(method, path string) (surface, operation string) {
	type route struct {
		method, surface, operation string
		path                       *regexp.Regexp
		parameters                 int
	}
	var routes []route
	for _, b := range bundles {
		b.operations(func(method, path string, operation *yaml.Node) {
			expression := regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
			routes = append(routes, route{method: method, surface: b.surface,
				operation: at(operation, "operationId").Value,
				path:      regexp.MustCompile("^" + expression + "$"), parameters: strings.Count(path, "{")})
		})
	}
	slices.SortStableFunc(routes, func(a, b route) int { return a.parameters - b.parameters })
	return func(method, path string) (string, string) {
		path, _, _ = strings.Cut(path, "?")
		for _, r := range routes {
			if r.method == method && r.path.MatchString(path) {
				return r.surface, r.operation
			}
		}
		return "", ""
	}
}

// story is what the earlier exchanges of a recording say about the next one.
type story struct {
	payload []byte            // what a developer key signs next
	wallets map[string]string // by contact: bank or wallet
}

// complete names the variant of an exchange, and replaces what the recording leaves out.
func (s *story) complete(operation string, e *exchange) error {
	if err := s.fill(e); err != nil {
		return err
	}
	for _, holder := range []*yaml.Node{e.reply, at(e.reply, "approval"), at(e.reply, "action", "approval")} {
		if payload := at(holder, "payload"); payload != nil {
			decoded, err := base64.StdEncoding.DecodeString(payload.Value)
			if err != nil {
				return err
			}
			s.payload = decoded
		}
	}
	switch operation {
	case "CreateContact":
		kind := at(e.request, "account", "accountType")
		if kind == nil {
			return nil
		}
		e.variant = kind.Value
		if id := at(e.reply, "id"); id != nil {
			if s.wallets == nil {
				s.wallets = map[string]string{}
			}
			s.wallets[id.Value] = "bank"
			if e.variant == "onchain" {
				e.variant, s.wallets[id.Value] = "wallet", "wallet"
			}
		}
	case "BookPayout":
		e.variant = s.wallets[at(e.request, "contactId").Value]
		if at(e.request, "toChainId") != nil {
			e.variant = "crossChain"
		}
	}
	return nil
}

func (s *story) fill(e *exchange) error {
	if e.request == nil || e.request.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(e.request.Content); i += 2 {
		value := e.request.Content[i+1]
		if value.Value != recorded.Any {
			continue
		}
		switch name := e.request.Content[i].Value; name {
		case "requestExpiry":
			value.Value = at(e.reply, "expiresAt").Value
		case "publicKey", "signature":
			public, signature, err := sign(s.payload)
			if err != nil {
				return err
			}
			value.Value = map[string]string{"publicKey": public, "signature": signature}[name]
		case "nonce":
			*value = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(start.UnixMilli())}
		case "messageSignature":
			value.Value = walletSignature
		case "signatures":
			e.request.Content[i+1] = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq",
				Content: []*yaml.Node{quoted(walletSignature)}}
		default:
			return fmt.Errorf("the recording leaves out %s: say what stands for it", name)
		}
	}
	return nil
}

func quoted(value string) *yaml.Node {
	tree := text(value)
	tree.Style = yaml.DoubleQuotedStyle
	return tree
}

// walletSignature has the form of a wallet's signature.
var walletSignature = "0x" + strings.Repeat("1", 128) + "1b"

// sign signs as a developer key does: ECDSA P-256 over SHA-256, in ASN.1 DER, with a low S. The same bytes give the
// same signature, and the key is nobody's.
func sign(payload []byte) (public, signature string, err error) {
	seed := sha256.Sum256([]byte("the developer key of the examples"))
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		return "", "", err
	}
	digest := sha256.Sum256(payload)
	der, err := key.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", "", err
	}
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &rs); err != nil {
		return "", "", err
	}
	order := elliptic.P256().Params().N
	if rs.S.Cmp(new(big.Int).Rsh(order, 1)) > 0 {
		rs.S.Sub(order, rs.S)
	}
	if der, err = asn1.Marshal(rs); err != nil {
		return "", "", err
	}
	spki, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	return base64.StdEncoding.EncodeToString(spki), base64.StdEncoding.EncodeToString(der), err
}

// addExamples gives each JSON body an example. A variant, such as a payout to a wallet, has an example of its own.
func (b *bundle) addExamples(found exchanges) error {
	var failed error
	b.operations(func(method, path string, operation *yaml.Node) {
		made := longest(found.made[b.surface+"."+at(operation, "operationId").Value])
		if body := at(operation, "requestBody", "content", "application/json"); body != nil {
			if !addTo(body, made, func(e exchange) *yaml.Node { return e.request }) {
				failed = fmt.Errorf("no recording has the body of %s %s", method, path)
			}
		}
		responses := at(operation, "responses")
		for i := 0; i < len(responses.Content); i += 2 {
			status := responses.Content[i].Value
			if !strings.HasPrefix(status, "2") {
				continue
			}
			response := responses.Content[i+1]
			if ref := at(response, "$ref"); ref != nil {
				_, name, _ := strings.Cut(ref.Value, "#/components/responses/")
				response = clone(at(b.root, "components", "responses", name))
				responses.Content[i+1] = response
			}
			body := at(response, "content", "application/json")
			if body == nil {
				continue
			}
			of := slices.DeleteFunc(slices.Clone(made), func(e exchange) bool { return e.status != status })
			if len(of) == 0 {
				of = made // a replay has the body of the first response, and another status
			}
			if !addTo(body, of, func(e exchange) *yaml.Node { return e.reply }) {
				failed = fmt.Errorf("no recording has the response %s of %s %s", status, method, path)
			}
		}
	})
	return failed
}

// longest picks the exchange of each variant that shows the most fields.
func longest(made []exchange) (picked []exchange) {
	for _, e := range made {
		i := slices.IndexFunc(picked, func(p exchange) bool { return p.variant == e.variant && p.status == e.status })
		switch {
		case i < 0:
			picked = append(picked, e)
		case e.size > picked[i].size:
			picked[i] = e
		}
	}
	return picked
}

func addTo(media *yaml.Node, made []exchange, body func(exchange) *yaml.Node) bool {
	examples := mapping()
	for _, e := range made {
		value := body(e)
		switch {
		case value == nil:
		case e.variant == "" || len(made) == 1:
			set(media, "example", clone(value))
			return true
		default:
			set(examples, e.variant, single("value", clone(value)))
		}
	}
	set(media, "examples", examples)
	return len(examples.Content) > 0
}
