package openai

import (
	"regexp"
	"strings"
)

// vision matches the names of models with vision, as of November 2026.
var vision = regexp.MustCompile(strings.Join([]string{
	`vision`, `multimodal`, `omni`, `(?:^|[^a-z])vl(?:[^a-z]|$)`, // qwen2.5vl, qwen3-vl, deepseek-vl2
	`llava`, `moondream`, `pixtral`, `minicpm-?v`, `internvl`, `glm-4(?:\.\d)?v`,
	`gpt-4o`, `gpt-4\.\d`, `gpt-4-turbo`, `gpt-[5-9]`, `^o1(?:$|-pro|-\d)`, `^o[34](?:$|-pro|-\d)`, `^o4-mini`,
	`gemini`, `claude`,
	`gemma-?3(?:$|n|:latest|[:-](?:4|12|27)b)`, `gemma-?[4-9]`, `llama-?4`, `mistral-small-?3\.[12]`, `mistral-medium-?3`, `grok-[4-9]`, `kimi-k2\.5`,
}, "|"))

// noVision matches exceptions: names that vision matches, without vision.
var noVision = regexp.MustCompile(`gpt-4o.*-(?:audio|transcribe|tts|search)|claude-(?:2|instant)|embed`)

// takesPictures guesses from its name whether a model has vision. When the guess
// is wrong, the model rejects the first picture and is remembered. An unknown
// model gets no pictures.
func takesPictures(model string) bool {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]) // gateways put a vendor before the name
	return vision.MatchString(model) && !noVision.MatchString(model)
}
