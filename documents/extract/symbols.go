package extract

import (
	"strconv"
	"strings"
)

// privateSymbols is where Unicode has no characters and Windows has those of fonts of symbols.
const privateSymbols = 0xf000

// pictograms are the signs of Wingdings and the like that carry a meaning, by their place in the
// font.
var pictograms = map[rune]rune{
	0x28: '☎', 0x29: '☎', 0x2a: '✉', 0x4a: '☺', 0x4c: '☹',
	0x6f: '☐', 0xa8: '☐', 0x71: '☐', 0x72: '☐', 0xfe: '☒', 0x78: '☒', 0x54: '☒', 0xfd: '☒', 0x52: '☑', 0xfc: '✓', 0xfb: '✗',
	0xe0: '→', 0xdf: '←', 0xe1: '↑', 0xe2: '↓', 0xe8: '→', 0xb7: '•', 0xa7: '▪', 0xd8: '▪',
}

// The characters of the font Symbol, from 0x20 and from 0xa0, and those of Adobe's that stand in
// private places of Unicode, from adobeFrom.
var (
	lowSymbols  = []rune(" !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼")
	highSymbols = []rune("€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭")
	adobe       = []rune("‾⏐⎯®©™⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭")
)

const adobeFrom = 0xf8e5

// symbol returns the sign at a place of a font, from 0x20 to 0xff; 0 if it has no known meaning.
func symbol(font string, place rune) rune {
	switch low, high := int(place)-0x20, int(place)-0xa0; {
	case strings.Contains(font, "dings"):
		return pictograms[place]
	case !strings.Contains(font, "Symbol"):
		return 0
	case low >= 0 && low < len(lowSymbols):
		return lowSymbols[low]
	case high >= 0 && high < len(highSymbols):
		return highSymbols[high]
	}
	return 0
}

// officeSymbol returns the sign at a hexadecimal place of a font; "" if it has no known meaning.
func officeSymbol(font, hex string) string {
	n, err := strconv.ParseInt(hex, 16, 32)
	place := rune(n)
	switch {
	case err != nil:
		return ""
	case place >= privateSymbols && place <= privateSymbols+0xff:
		place -= privateSymbols
	case place > 0xff && (place < 0xe000 || place > 0xf8ff) && place <= 0xffff:
		return string(place)
	}
	if r := symbol(font, place); r != 0 {
		return string(r)
	}
	return ""
}

// symbol returns the sign that stands for a character in a private place of Unicode, by its font;
// the character itself if it is another one.
func (n *native) symbol(text, i uint64, r rune) rune {
	if r >= adobeFrom && int(r-adobeFrom) < len(adobe) {
		return adobe[r-adobeFrom]
	}
	if r < privateSymbols+0x20 || r > privateSymbols+0xff {
		return r
	}
	const flags = 4 // bytes, before the name
	size := n.number("FPDFText_GetFontInfo", text, i, uint64(n.scratch)+flags, scratchBytes-flags, uint64(n.scratch))
	name, _ := n.module.Memory().Read(n.scratch+flags, uint32(min(max(size, 0), scratchBytes-flags)))
	return orElse(symbol(string(name), r-privateSymbols), r)
}
