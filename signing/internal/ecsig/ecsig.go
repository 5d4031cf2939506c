// Package ecsig reads and writes ECDSA signatures in DER. It works on bytes: encoding/asn1 and math/big would take a
// fifth of the time of the signing itself.
package ecsig

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrEncoding means that the bytes are not the DER encoding of two positive integers.
var ErrEncoding = errors.New("not a DER-encoded ECDSA signature")

// Signature is an ECDSA signature: two positive integers, big-endian. They may begin with zeros.
type Signature struct{ R, S []byte }

// Number is an integer of 256 bits, big-endian.
type Number [32]byte

// The orders of the two curves of developer keys.
var (
	P256 = Number{
		0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
	}
	Secp256k1 = Number{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
		0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
	}
)

// Parse reads a DER signature. It accepts only the encoding that [Signature.Marshal] returns, else it returns
// [ErrEncoding]. The signature shares the memory of der.
func Parse(der []byte) (Signature, error) {
	both, behind := element(tagSequence, der)
	r, afterR := positive(both)
	s, afterS := positive(afterR)
	if r == nil || s == nil || len(afterS) != 0 || len(behind) != 0 {
		return Signature{}, ErrEncoding
	}
	return Signature{R: r, S: s}, nil
}

// Marshal returns the signature in DER.
func (s Signature) Marshal() []byte {
	const usual = 2 * (len(Number{}) + 3)
	both := appendInteger(appendInteger(make([]byte, 0, usual), s.R), s.S)
	return append(appendHead(make([]byte, 0, len(both)+4), tagSequence, len(both)), both...)
}

// HighS reports whether S is in the upper half of the order. A signature has a form with a low S and one with a high S.
// Anybody can turn one into the other without the key.
func (s Signature) HighS(order Number) bool {
	number, _ := numberOf(s.S)
	opposite, below := order.minus(s.S)
	return !below || bytes.Compare(number[:], opposite[:]) > 0
}

// Normalized returns the form of the signature with a low S.
func (s Signature) Normalized(order Number) Signature {
	opposite, below := order.minus(s.S)
	if !below || !s.HighS(order) {
		return s
	}
	return Signature{R: s.R, S: opposite[:]}
}

// Within reports whether R and S are below the order.
func (s Signature) Within(order Number) bool {
	_, r := order.minus(s.R)
	_, t := order.minus(s.S)
	return r && t
}

// minus subtracts a smaller number. less is false if the number is not smaller.
func (n Number) minus(value []byte) (difference Number, less bool) {
	number, fits := numberOf(value)
	if !fits || bytes.Compare(number[:], n[:]) >= 0 {
		return Number{}, false
	}
	var borrow uint64
	for at := len(n) - 8; at >= 0; at -= 8 {
		var word uint64
		word, borrow = bits.Sub64(binary.BigEndian.Uint64(n[at:]), binary.BigEndian.Uint64(number[at:]), borrow)
		binary.BigEndian.PutUint64(difference[at:], word)
	}
	return difference, true
}

// numberOf returns an integer of any length. fits is false if it has more than 256 bits.
func numberOf(value []byte) (number Number, fits bool) {
	value = withoutZeros(value)
	if len(value) > len(number) {
		return Number{}, false
	}
	copy(number[len(number)-len(value):], value)
	return number, true
}

func withoutZeros(value []byte) []byte { return bytes.TrimLeft(value, "\x00") }

// The tags of a signature's elements.
const (
	tagInteger  = 0x02
	tagSequence = 0x30
)

// positive reads a positive integer in its shortest form. value is nil for anything else.
func positive(der []byte) (value, rest []byte) {
	value, rest = element(tagInteger, der)
	switch {
	case len(value) == 0, value[0] >= 0x80: // a negative one
		return nil, nil
	case value[0] != 0:
		return value, rest
	case len(value) == 1, value[1] < 0x80: // zero, and a zero that is not needed
		return nil, nil
	}
	return value[1:], rest
}

// element reads one element, whose length is in its shortest form and has 16 bits at most. value is nil for anything
// else.
func element(tag byte, der []byte) (value, rest []byte) {
	if len(der) < 2 || der[0] != tag {
		return nil, nil
	}
	length, rest := int(der[1]), der[2:]
	switch {
	case length < 0x80:
	case length == 0x81 && len(rest) >= 1 && rest[0] >= 0x80:
		length, rest = int(rest[0]), rest[1:]
	case length == 0x82 && len(rest) >= 2 && rest[0] != 0:
		length, rest = int(rest[0])<<8|int(rest[1]), rest[2:]
	default:
		return nil, nil
	}
	if length > len(rest) {
		return nil, nil
	}
	return rest[:length], rest[length:]
}

// appendInteger appends a number that is not negative.
func appendInteger(der, value []byte) []byte {
	value = withoutZeros(value)
	if len(value) == 0 || value[0] >= 0x80 { // without a zero, it would be a negative number
		return append(append(appendHead(der, tagInteger, len(value)+1), 0), value...)
	}
	return append(appendHead(der, tagInteger, len(value)), value...)
}

// appendHead appends the tag and the length of an element of up to 64 KiB.
func appendHead(der []byte, tag byte, length int) []byte {
	switch {
	case length < 0x80:
		return append(der, tag, byte(length)) //gosec:disable G115 -- it is less than 128
	case length < 0x100:
		return append(der, tag, 0x81, byte(length)) //gosec:disable G115 -- it is below 0x100
	}
	//gosec:disable G115 -- its two bytes
	return append(der, tag, 0x82, byte(length>>8), byte(length))
}
