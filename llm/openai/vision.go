package openai

import (
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// noVision matches the names of models that are known to take no pictures.
var noVision = lazyregexp.New(`gpt-4o.*-(?:audio|transcribe|tts|search)|gpt-3\.5|gpt-oss|^o[13]-mini|claude-(?:2|instant)|embed`)

// takesPictures reports whether a model may take pictures. One that does not rejects
// its first picture, and the process remembers that.
func takesPictures(model string) bool {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]) // gateways put a vendor before the name
	return !noVision.MatchString(model)
}
