package offline

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Placeholders are drawn in a quarter of the requested size and enlarged to half of it,
// so that the letters can be read.
var placeholderSizes = map[string]image.Point{
	"1536x1024": {X: 384, Y: 256},
	"1024x1536": {X: 256, Y: 384},
}

const enlarged = 2

// Paint implements llm.Painter. It draws a picture that says that it is a placeholder: the
// same prompt and size give the same picture. It costs nothing.
func (*Engine) Paint(ctx context.Context, prompt, size, _ string) (llm.Image, chat.Usage, error) {
	if err := ctx.Err(); err != nil {
		return llm.Image{}, chat.Usage{}, fmt.Errorf("model call: %w", err)
	}
	canvas := placeholder(prompt, size)
	large := image.NewRGBA(image.Rectangle{Max: canvas.Bounds().Max.Mul(enlarged)})
	draw.NearestNeighbor.Scale(large, large.Bounds(), canvas, canvas.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, large); err != nil {
		return llm.Image{}, chat.Usage{}, fmt.Errorf("offline: %w", err)
	}
	return llm.Image{MIME: "image/png", Data: out.Bytes()}, chat.Usage{TokensIn: llm.EstimateTokens(prompt), Calls: 1}, nil
}

// placeholder draws an empty frame with its diagonals and the prompt.
func placeholder(prompt, size string) *image.RGBA {
	at, ok := placeholderSizes[size]
	if !ok {
		at = image.Point{X: 256, Y: 256}
	}
	h := fnv.New32a()
	h.Write([]byte(prompt))
	sum := h.Sum32()
	pale := func(b byte) byte { return 0xb0 + b%0x40 }
	paper := color.RGBA{pale(byte(sum)), pale(byte(sum >> 8)), pale(byte(sum >> 16)), 0xff}
	ink := color.RGBA{0x30, 0x30, 0x38, 0xff}

	canvas := image.NewRGBA(image.Rectangle{Max: at})
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(ink), image.Point{}, draw.Src)
	draw.Draw(canvas, canvas.Bounds().Inset(3), image.NewUniform(paper), image.Point{}, draw.Src)
	for x := 3; x < at.X-3; x++ {
		y := 3 + (x-3)*(at.Y-7)/(at.X-7)
		canvas.Set(x, y, ink)
		canvas.Set(x, at.Y-1-y, ink)
	}

	const lineHeight, most = 15, 5
	lines := append([]string{"PLACEHOLDER", "no image model is configured", ""}, wrapped(prompt, (at.X-24)/basicfont.Face7x13.Advance, most)...)
	top := (at.Y - len(lines)*lineHeight) / 2
	box := image.Rect(10, top-6, at.X-10, top+len(lines)*lineHeight+2)
	draw.Draw(canvas, box, image.NewUniform(paper), image.Point{}, draw.Src)
	for i, line := range lines {
		x := (at.X - len(line)*basicfont.Face7x13.Advance) / 2
		d := font.Drawer{Dst: canvas, Src: image.NewUniform(ink), Face: basicfont.Face7x13, Dot: fixed.P(x, top+i*lineHeight+basicfont.Face7x13.Ascent)}
		d.DrawString(line)
	}
	return canvas
}

// wrapped cuts a text into lines of width characters, and returns at most most lines. It
// replaces characters that the font does not have.
func wrapped(text string, width, most int) []string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
	var lines []string
	for text != "" {
		if len(lines) == most {
			last := lines[most-1]
			lines[most-1] = last[:min(len(last), width-3)] + "..."
			break
		}
		n := min(len(text), width)
		if n < len(text) {
			if cut := strings.LastIndexByte(text[:n+1], ' '); cut > 0 {
				n = cut
			}
		}
		lines = append(lines, text[:n])
		text = strings.TrimSpace(text[n:])
	}
	return lines
}
