// Package vector ranks by cosine similarity, exactly: vectors are stored at
// length 1, so that their dot product is the cosine.
package vector

import (
	"container/heap"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// MaxCompared is the most vectors that a search without an index compares. If there are
// more, it compares those of the newest documents.
const MaxCompared = 50_000

// Unit is v at length 1; nil when v has no direction.
func Unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsInf(norm, 0) || math.IsNaN(norm) {
		return nil
	}
	u := make([]float32, len(v))
	for i, x := range v {
		u[i] = float32(float64(x) / norm)
	}
	return u
}

// Encode is Unit(v) as float32 in little endian; nil when v has no direction.
func Encode(v []float32) []byte {
	u := Unit(v)
	if u == nil {
		return nil
	}
	blob := make([]byte, 0, 4*len(u))
	for _, x := range u {
		blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(x))
	}
	return blob
}

// Dot multiplies a vector with an encoded one of the same length.
func Dot(v []float32, blob []byte) float64 {
	var sum float64
	for i, x := range v {
		sum += float64(x) * float64(math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:])))
	}
	return sum
}

// Text is an encoded vector as pgvector reads it, with the five digits that its half
// floats have.
func Text(blob []byte) string {
	text := make([]byte, 0, 2*len(blob)+2)
	text = append(text, '[')
	for i := 0; i < len(blob); i += 4 {
		if i > 0 {
			text = append(text, ',')
		}
		x := math.Float32frombits(binary.LittleEndian.Uint32(blob[i:]))
		text = strconv.AppendFloat(text, float64(x), 'g', 5, 32)
	}
	return string(append(text, ']'))
}

// Scored is a chunk's internal id and its score.
type Scored struct {
	ID    int64
	Score float64
}

func better(a, b Scored) bool {
	return a.Score > b.Score || (a.Score == b.Score && a.ID < b.ID)
}

// Best keeps the best of all offered scores.
type Best struct {
	Most  int // at least 1
	found worstFirst
}

// Offer takes r if it is among the best so far.
func (b *Best) Offer(r Scored) {
	if len(b.found) < b.Most {
		heap.Push(&b.found, r)
	} else if better(r, b.found[0]) {
		b.found[0] = r
		heap.Fix(&b.found, 0)
	}
}

// Ranking is the kept scores, best first; equal ones by id.
func (b *Best) Ranking() []Scored {
	slices.SortFunc(b.found, func(x, y Scored) int {
		if better(x, y) {
			return -1
		}
		return 1
	})
	return b.found
}

type worstFirst []Scored

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return better(h[j], h[i]) }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(Scored)) }
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
