package ecsig

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
