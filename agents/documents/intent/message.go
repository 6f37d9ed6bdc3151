package intent

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
)

// What people write to ask for an action: imperatives, and nouns after "give me a …".
// auditQuestion matches a question whether something complies with a rule.
var (
	summarizeVerb = regexp.MustCompile(`(?i)\b(summari[sz](?:e|es|ing)|sum (?:it |this |that |them )?up|summary|overview|tl;?dr|recap|gist|nutshell|brief (?:me|us)|(?:key|main|most important|essential|central) (?:points|facts|aspects)|highlights|short version|(?:boil|break)\b[^.?!\n]{1,80}\bdown|walk (?:me|us) through|run-?down|run-?through|digest|takeaways|essentials|condense|shorten|paraphrase|abridge|in (?:a|one|two|three|four|five|\d+|a few|few) (?:sentences?|lines?|bullets?|words|bullet points)|outline)\b|^\W*(?:(?:please|now|can|could|would|you|so) )*wrap (?:it |this |that |them )?up\b|^\W*what(?:['’]?s| is| are) (?:the |our |my )?[^.?!\n]{2,80} about\s*\??$|^\W*what(?:['’]?s| is) in (?:the |our |my )[^.?!\n]{2,60}\b(?:polic(?:y|ies)|contract|agreement|handbook|circular|report|minutes|checklist|letter|manual|guidelines?)\s*\??$`)
	compareVerb   = regexp.MustCompile(`(?i)\b(compar(?:e|es|ing|ison)|contrast|versus|vs|differences? (?:between|among|from|to|in wording)|differs?|side by side|similarities|different (?:from|than)|what(?:['’]?s| is) different|what(?:['’]s| is) new in|what (?:has |have |was |were )?(?:been )?changed|(?:what|which) changes\b[^.?!\n]{1,80}\b(?:compared|since|against|over)|what'?s changed|what did (?:\w+ ){1,3}(?:change|add|drop|remove)\b[^.?!\n]{1,80}\b(?:compared|since|against|from)|how (?:is|are) [^.?!\n]{1,60} different|diverges?|how (?:has|have|did)\b[^.?!\n]{1,80}\bchanged?|changes between|(?:did|has|have) (?:anything|something|much|a lot)\b[^.?!\n]{0,40}\bchanged?|which (?:\w+ )?(?:is|are|has|have|gives|grants|allows) (?:\w+er|more|less)\b[^.?!\n]{1,80}\bor|agree with each other|contradict(?:s|ions?)?)\b`)
	auditVerb     = regexp.MustCompile(`(?i)\b(?:audit[ \t]+(?:@|["“\[]|\d|(?-i:[A-Z])|(?:this|the|my|our|it|that|these|them|all|both|and|against|for)\b)|audit\b[^.?!\n]{0,160}\bagainst\b|audit[ \t]*[.!:]?$|audit (?:something|anything)|(?:check|review|verify|assess|validate|screen|test|examine|evaluate|proofread|inspect|hold)\b[^.?!\n]{0,160}\b(?:against|for (?:compliance|violations|breaches))\b|(?:find|flag|list|spot|report) (?:any |all |the )?(?:violations|breaches)\b|(?:problems|issues|mistakes|conflicts|violations|breaches) (?:in|with) (?:this|the following|my|our)\b|which (?:rules?|clauses?|sections?|parts?)\b[^.?!\n]{0,80}\b(?:broken|violated|breached)|(?:any|are there) (?:violations|breaches|infringements|conflicts)\b|compliance check\b|check (?:este|ese|esta|el|la|diesen?|den|das|dieses|ce|cet|cette|deze|dit|le) [^.?!\n]{0,80}\b(?:con|mit|met|avec|aan|anhand)\b)`)
	auditQuestion = regexp.MustCompile(`(?i)(?:^|[.?!:"”»])\W*(?:in line|consistent|compliant) with\b|\b(?:do|does|did|would|will) (?:this|that|it|these|those|my|the|our)\b[^.?!\n]{0,80}\bbreaks?\b|\b(?:is|are|was|would|be) (?:this|that|it|these|those|the following)\b[^.?!\n]{0,60}\b(?:ok|okay|fine|allowed|permitted|acceptable|compliant|legal) (?:under|with|by|according to|per)\b|\b(?:do|does|did|is|are|was|would|will|has|have|can|could|whether|if)\b[^.?!\n]{0,120}\b(?:compl(?:y|ies|iant)|violat(?:e|es|ed|ing|ion)|breach(?:es|ed|ing)?|conforms?|violating|contravenes?|in line with|(?:consistent|compatible) with|break(?:s)? (?:the|a|any|our) (?:rules?|polic(?:y|ies)|law))\b`)
	inquireVerb   = regexp.MustCompile(`(?i)^(?:(?:i|we)(?:['’]m| am| are|['’]re| was| were)? )?(?:just |only |also )?(?:(?:need|want|would like|['’]d like) to (?:know|find out|understand|see)|wonder(?:ing)?|unsure|not sure|curious|looking for|any idea|no idea)\b|^(?:please |now |then |and |also |so |ok |okay |could you |can you |would you )*(?:explain|describe|list|find|show|give me|tell me|define|search|look up|identify|extract|quote|answer|clarify|name)\b`)
	whWord        = regexp.MustCompile(`(?i)^(?:and |so |but |ok |okay |then |also |now )*(?:what|which|who|whom|whose|when|where|why|how)\b`)
	question      = regexp.MustCompile(`(?i)^(?:and |so |but |ok |okay |then |also |now )*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|may|must|shall|should|will|would|has|have|am)\b|\?\s*$`)
)

// aDifference matches the noun alone, which asks for a comparison when no question word
// makes it a subject: "What difference in price does the letter announce?".
var aDifference = regexp.MustCompile(`(?i)\bdifferences?\b`)

// isInstruction reports whether s says what to do.
func isInstruction(s string) bool {
	s = language.Commands(s)
	for _, re := range []*regexp.Regexp{summarizeVerb, compareVerb, auditVerb, auditQuestion, inquireVerb, question} {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

// SplitMessage splits a message into the instruction and the text to use, which may be
// empty. Both are verbatim parts of the message.
func SplitMessage(message string) (instruction, text string) {
	const longest = 240 // of an instruction, in characters
	message = strings.TrimSpace(message)
	for i := 0; i < len(message); i++ {
		if message[i] != '\n' && !strings.HasPrefix(message[i:], ": ") && !strings.HasPrefix(message[i:], ":\n") {
			continue
		}
		head, tail := message[:i], strings.TrimSpace(message[i+1:])
		if utf8.RuneCountInString(head) > longest {
			break
		}
		if isInstruction(head) && len(tail) >= 20 {
			return strings.TrimSpace(head), tail
		}
	}
	spans := sentence.Sentences(message)
	if len(spans) < 2 {
		return message, ""
	}
	runes := []rune(message)
	first, last := spans[0], spans[len(spans)-1]
	switch {
	case len(first.Text) <= longest && isInstruction(first.Text):
		return first.Text, strings.TrimSpace(string(runes[first.End:]))
	case len(last.Text) <= longest && isInstruction(last.Text):
		return last.Text, strings.TrimSpace(string(runes[:last.Start]))
	}
	return message, ""
}

// Instruction returns the part of a message that says what to do: all of a short message,
// and a long one without the text that was pasted into it.
func Instruction(message string) string {
	message = strings.TrimSpace(message)
	if utf8.RuneCountInString(message) <= 240 && !strings.Contains(message, "\n") {
		return message
	}
	instruction, _ := SplitMessage(message)
	if r := []rune(instruction); len(r) > 400 {
		instruction = string(r[:400])
	}
	return instruction
}
