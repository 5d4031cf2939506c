package wire

import "bytes"

// saysZero reports that an object holds a member of its own, not of what is inside it, and that this is not null. body is valid JSON; the
// scan keeps an answer that says false or "" from being read twice.
func saysZero(body []byte, name string) bool {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := i + 1
			for ; body[end] != '"'; end++ {
				if body[end] == '\\' {
					end++
				}
			}
			text, rest := body[i+1:end], bytes.TrimLeft(body[end+1:], " \t\r\n")
			i = end
			if depth == 1 && len(rest) > 0 && rest[0] == ':' && string(text) == name {
				return !bytes.HasPrefix(bytes.TrimLeft(rest[1:], " \t\r\n"), []byte("null"))
			}
		}
	}
	return false
}
