package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/big"
)

// Canonical rewrites a tool call's arguments: keys are sorted and unique (the last duplicate
// wins, as in encoding/json), numbers stay as written. These bytes are shown to the person,
// checked, hashed and sent to the tool. ok is false if raw is not one JSON object.
func Canonical(raw []byte) (_ json.RawMessage, ok bool) {
	tree, ok := parse(raw)
	if !ok {
		return nil, false
	}
	if _, object := tree.(map[string]any); !object {
		return nil, false
	}
	var out bytes.Buffer
	write := json.NewEncoder(&out)
	write.SetEscapeHTML(false)
	if write.Encode(tree) != nil {
		return nil, false
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
}

// Hash returns a hash that identifies canonical arguments.
func Hash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:16])
}

func parse(raw []byte) (tree any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return nil, false
	}
	_, err := d.Token()
	return tree, err == io.EOF
}

// same reports whether two JSON texts are equal in meaning. Clients may write numbers
// differently than the model.
func same(a, b []byte) bool {
	x, readX := parse(a)
	y, readY := parse(b)
	return readX && readY && equal(x, y)
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, object := b.(map[string]any)
		if !object || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			other, has := b[key]
			if !has || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, list := b.([]any)
		if !list || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, number := b.(json.Number)
		return number && (a == b || sameNumber(a.String(), b.String()))
	}
	return a == b
}

// maxDigits limits the numbers that are compared by value: exponents can make them very
// large.
const maxDigits = 40

func sameNumber(a, b string) bool {
	if len(a) > maxDigits || len(b) > maxDigits {
		return false
	}
	const precision = 256 // bits: exact for maxDigits digits
	x, _, errX := big.ParseFloat(a, 10, precision, big.ToNearestEven)
	y, _, errY := big.ParseFloat(b, 10, precision, big.ToNearestEven)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
