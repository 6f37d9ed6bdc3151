package tools

import (
	"bytes"
	"crypto/sha256"
	"image"
	"image/color"
	"image/png"
	"math"

	"github.com/palaver-chat/palaver/llm"
)

// Sizes of a sketch: small, for it only stands in for a picture.
var sketchSizes = map[string]image.Point{
	"1536x1024": {X: 384, Y: 256},
	"1024x1536": {X: 256, Y: 384},
}

// sketchOf draws a pattern that follows from the words alone: circles on two
// fields. It lets people try what happens around a picture with no provider.
func sketchOf(prompt, size string) llm.Image {
	p, ok := sketchSizes[size]
	if !ok {
		p = image.Point{X: 256, Y: 256}
	}
	seed := sha256.Sum256([]byte(prompt))
	palette := make(color.Palette, 0, 5)
	for i := range 5 {
		palette = append(palette, color.RGBA{seed[3*i] | 0x20, seed[3*i+1] | 0x20, seed[3*i+2] | 0x20, 0xff})
	}
	canvas := image.NewPaletted(image.Rectangle{Max: p}, palette)
	for y := range p.Y {
		for x := range p.X {
			c := uint8(2 * y / p.Y) // two halves of background
			for i := range 3 {
				cx, cy := int(seed[16+2*i])*p.X/256, int(seed[17+2*i])*p.Y/256
				r := float64(20 + int(seed[24+i])/4)
				if math.Hypot(float64(x-cx), float64(y-cy)) < r {
					c = uint8(2 + i)
				}
			}
			canvas.SetColorIndex(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, canvas); err != nil { // a buffer takes everything
		return llm.Image{}
	}
	return llm.Image{MIME: "image/png", Data: out.Bytes()}
}
