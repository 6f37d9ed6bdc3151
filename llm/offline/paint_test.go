package offline

import (
	"bytes"
	"context"
	"image/png"
	"strings"
	"testing"
)

func TestPlaceholderDependsOnThePrompt(t *testing.T) {
	paint := func(prompt, size string) []byte {
		image, usage, err := New().Paint(t.Context(), prompt, size, "key")
		if err != nil || image.MIME != "image/png" || usage.CostUSD != 0 {
			t.Fatalf("%s, %+v, %v", image.MIME, usage, err)
		}
		return image.Data
	}
	a, b := paint("a red barn", ""), paint("a green barn", "")
	if !bytes.Equal(a, paint("a red barn", "1024x1024")) || bytes.Equal(a, b) {
		t.Error("a placeholder must follow from its prompt alone")
	}
	for size, want := range map[string][2]int{"": {512, 512}, "1536x1024": {768, 512}, "1024x1536": {512, 768}, "99999999x1": {512, 512}} {
		data := paint(strings.Repeat("ein langer Satz über Möwen ", 90), size)
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil || img.Bounds().Dx() != want[0] || img.Bounds().Dy() != want[1] || len(data) > 200_000 {
			t.Errorf("%q: %v, %d bytes, %v", size, img.Bounds(), len(data), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := New().Paint(ctx, "x", "", ""); err == nil {
		t.Error("a cancelled call painted")
	}
}
