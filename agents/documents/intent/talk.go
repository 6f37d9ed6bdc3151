package intent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
)

// maxTalk is the number of words of the longest message that rules take for small talk.
const maxTalk = 14

var (
	// greetings are words of a message that greets, thanks, or says goodbye. One of
	// them makes it small talk when the others are courtesies.
	greetings = language.NewSet(`
hi hello hey hiya heya yo ahoy aloha oi sup welcome greetings namaste appreciated sorry oops bravo wow haha lol cya howdy hallo hoi moin servus salut bonjour bonsoir coucou hola ciao dag goedemorgen goedemiddag goedenavond
morning afternoon evening goodbye bye tschüss tschüs tot adieu adiós adios
thanks thank thx ty cheers merci danke dankeschön dank dankjewel dankuwel bedankt gracias grazie
ok okay great cool perfect nice awesome excellent brilliant super wonderful fine understood prima perfekt parfait perfecto
test testing ping`)
	courtesies = language.NewSet(`
you so much very many a lot again there all everyone team palaver good guten goede tag morgen abend day days buenos buenas tardes días dias
that helps helped was helpful useful for the your help this it is s works great really schön vielen dir ihnen je wel u heel erg
to nice meet meeting met talk speak later tomorrow soon million all now today week weekend rest have had no problem never mind same
pleasure from chat lovely enjoy of luck everything todo toda alles alle voor für pour tout
beaucoup vous muchas muchísimas por su tu ayuda aide hilfe hulp auf wiedersehen wiederhören au revoir ziens see later got i well done job
now just and please friend so well c est
my mistake fault bad about hm hmm oh yes`)
	// questionsAboutUs are whole messages, without greetings, as words.
	questionsAboutUs = phrases(`
what can you do | what can you do for me | what are you able to do | what do you do | what else can you do | what can i do here | what can i ask
what can i ask you | what should i ask | what could i ask you | what are your capabilities | what are your features | what is this | what is palaver | what s palaver
who are you | what are you | who is this | who am i talking to | what is your name | what s your name | are you human | are you a human
are you a robot | are you a bot | are you an ai | are you a person | are you real | are you there | how are you | how are you doing | how do you do | what s up
how does this work | how does it work | how does palaver work | how do you work | how do i use this | how do i use you | how can i use this | how do i start
how do i begin | how can you help | how can you help me | how could you help me | can you help | can you help me | could you help me | talk to you later | speak to you later | see you | see you later | see you tomorrow | help | help me | i need help
where do i start | introduce yourself | tell me about yourself | what do you know
was kannst du | was kannst du tun | was kannst du für mich tun | was können sie für mich tun | wat kun je voor me doen | wat kun je voor mij doen | wat kan je voor mij doen | was kannst du alles | was können sie | was können sie tun | wer bist du | wer sind sie | was bist du | wie funktioniert das | wie geht das
wie geht es dir | wie heißt du | kannst du mir helfen | hilfe
wat kun je | wat kan je | wat kun je doen | wat kan je doen | wat kun je allemaal | wat kan jij | wie ben je | wie ben jij | wat ben je | hoe werkt dit | hoe werkt het | hoe gaat het
kun je me helpen | kun je mij helpen | help mij
que peux tu faire | que sais tu faire | que savez vous faire | que pouvez vous faire | qu est ce que tu peux faire | qui es tu | qui êtes vous | tu es qui | comment ça marche | comment ça va
peux tu m aider | pouvez vous m aider | aide | à l aide
qué puedes hacer | que puedes hacer | qué sabes hacer | qué puede hacer | quién eres | quien eres | qué eres | cómo funciona | como funciona | cómo funciona esto | cómo estás | ayuda
puedes ayudarme | me puedes ayudar`)
)

func phrases(list string) map[string]bool {
	set := map[string]bool{}
	for _, line := range strings.Split(list, "\n") {
		for _, p := range strings.Split(line, "|") {
			if p = strings.TrimSpace(p); p != "" {
				set[p] = true
			}
		}
	}
	return set
}

// IsTalk reports whether a message asks for no work: it greets, thanks, says goodbye,
// or asks who answers here. It recognizes clear cases only, in a few languages.
func IsTalk(message string) bool {
	words := language.Words(message)
	if len(words) == 0 || len(words) > maxTalk {
		return false
	}
	return isCourtesy(words) || greetsByName(message) || asksAboutUs(words) || onlyRemarks(message)
}

// namedGreeting matches a greeting with one or two words for who is greeted: "Hi giraffe".
// It does not match a code, which would be the name of a document.
var namedGreeting = regexp.MustCompile(`(?i)^(?:good (?:morning|afternoon|evening)|hi|hello|hey|hiya|howdy|hallo|hoi|moin|salut|bonjour|bonsoir|hola|ciao)(?: there)?,? (\pL+(?: \pL+)?)[ !.,]*$`)

// greetsByName reports whether a message is a greeting with a name, which no list can know.
func greetsByName(message string) bool {
	m := namedGreeting.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return false
	}
	for _, w := range language.Words(m[1]) {
		if asksForWork[w] || askingUs[w] || language.IsStopWord(w) {
			return false
		}
	}
	return !AsksForDocuments(m[1])
}

// asksForWork are words of short requests after a greeting.
var asksForWork = language.NewSet(`summary summarize summarise overview gist outline compare comparison difference differences audit check review verify
tldr search find look explain list show read open document documents doc docs file files policy policies contract contracts agreement report letter
email handbook manual rules regulation minutes circular`)

var (
	// leadsIn matches words that introduce a question about us: "can you tell me what you can
	// do".
	leadsIn = regexp.MustCompile(`^(?:(?:so|and|please|ok|okay|well|now|just) )*(?:(?:(?:can|could|would|will) you (?:please )?|please )?(?:tell|show|explain|describe)(?: to)?(?: me| us)? |i (?:want|would like|d like|wanted) to know |do you know )?`)
	// endsWith matches words after a question about us that add nothing.
	endsWith = regexp.MustCompile(` (?:please|palaver|exactly|actually|here|with (?:my|our|the|these) (?:documents|files)|bitte|alsjeblieft|for me|for us|then|(?:für|fuer) mich|pour moi|voor mij|por m[ií])$`)
	// aboutUs matches questions about us: whole messages, as words.
	aboutUs = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`(?:what|which)(?: kinds? of| sorts? of| types? of)?(?: questions?| things?| requests?| tasks?)?(?: else)? (?:can|could|should|may|do) (?:i|we|one) (?:ask|use|do with|expect from|get from|try with|say to)(?: you| this| it)?(?: for| about| to do)?`,
		`what (?:else )?(?:do|can|could) you (?:do|offer|know|handle|help with|help me with|understand)`,
		`what (?:can|could) (?:this|it|palaver)(?: \pL+)? do`,
		`(?:how|where) (?:do|can|could|should|would|to)(?: i| we)? (?:get started|start|begin)(?: with (?:this|it|you|palaver))?`,
		`what you (?:can |could )?(?:do|offer|are|know)`, `who you are`, `how (?:this|it|palaver) works`, `how (?:i|to) (?:can )?(?:use|start|begin)(?: with)?(?: you| this| it| palaver)?`,
		`how (?:can|do|could|should|would) (?:i|we|one) (?:use|work with|get started with|talk to) (?:you|this|it|palaver)(?: thing| tool| app| chat| program)?`,
		`(?:who|what company|which company) (?:made|built|created|developed|wrote|programmed|trained|owns|runs) you`,
		`what (?:is|s) it(?: that)? you (?:can |could )?(?:do|offer)`,
		`(?:am|are) (?:i|we) (?:talking|speaking|chatting|writing|connected) (?:to|with) (?:an? |the )?(?:real |actual |live )?(?:human|person|somebody|someone|robot|bot|chatbot|machine|computer|ai|program)(?: being)?`,
		`(?:is )?(?:anyone|anybody|someone|somebody) (?:here|there|home|around|at home|listening|awake)`,
		`what (?:is|are) (?:this|palaver|you)(?: thing| tool| app| chat| program)?(?: for| good for)?`,
	}, "|") + `)$`)
)

func isCourtesy(words []string) bool {
	greets := false
	for _, w := range words {
		if !greetings[w] && !courtesies[w] {
			return false
		}
		greets = greets || greetings[w] || w == "good" && slices.Contains(words, "day") || w == "tag" || w == "abend"
	}
	return greets
}

// asksAboutUs looks for a question about us after greetings and courtesies.
func asksAboutUs(words []string) bool {
	for i := range words {
		if isAboutUs(strings.Join(words[i:], " ")) {
			return true
		}
		if !greetings[words[i]] && !courtesies[words[i]] {
			return false
		}
	}
	return false
}

// addresses are, by language, the words that address us and the other words of questions
// about us. A question with no further words is a question about us.
var addresses = []struct{ you, others language.Set }{
	{language.NewSet("you your yours yourself palaver"), language.NewSet(`what who how why where which can could do does did are is am be been have has to the a an of for with in by
at i we me my us here there and or else also really actually all any some not just bot robot machine human person people ai assistant chatbot program software model
real alive name called good best get started start begin use using help assist sort sorts kind kinds type types task tasks question questions request requests
job purpose ask try able capable capability capabilities feature features function functions skill skills offer made built created developed trained
company special possible limit limits limitations speak language languages tool app chat from live old work`)},
	{language.NewSet("du dich dir"), language.NewSet("was wer wie kannst weißt weisst bist heißt tun machen helfen mir mich für ich alles eigentlich hier fragen stellen denn ein eine roboter mensch programm von gemacht hat kann welche aufgaben")},
	{language.NewSet("je jij jou u"), language.NewSet("wat wie hoe kun kan kunt ben bent heet doen helpen mij me voor ik allemaal vragen stellen hier een robot mens programma weet gemaakt heeft eigenlijk welke taken")},
	{language.NewSet("tu vous toi"), language.NewSet("que quoi qu est ce qui es êtes sais savez peux pouvez faire aider m me nous comment marches fonctionnes appelles t pour moi je te poser quelles quel questions un une robot humain programme bien exactement")},
	{language.NewSet("tú puedes sabes eres llamas funcionas usted"), language.NewSet("qué que quién quien cómo como te hacer ayudarme ayudar por para mí mi me un una robot humano programa puedo preguntarte preguntar tu nombre es cuál")},
}

// asksYou reports whether a text is a question about us and about nothing else.
func asksYou(text string) bool {
	words := strings.Fields(text)
	if len(words) < 2 || !askingUs[words[0]] {
		return false
	}
	for _, a := range addresses {
		other := slices.ContainsFunc(words, func(w string) bool { return !a.you[w] && !a.others[w] })
		if !other && hasAny(words, a.you) {
			return true
		}
	}
	return false
}

// askingUs are words that begin a question about us.
var askingUs = language.Union(language.QuestionWords, language.NewSet(`are is do does have can was wer wie welche bist kannst wat hoe welke ben kun kan
que quoi qu qui comment tu es sais peux quelles quel qué quién quien cómo como puedes eres sabes cuál`))

// isAboutUs reports whether the words are a question about us, also after "can you tell
// me" or before "for me, please".
func isAboutUs(text string) bool {
	for {
		if core := text[len(leadsIn.FindString(text)):]; questionsAboutUs[text] || questionsAboutUs[core] || aboutUs.MatchString(text) || aboutUs.MatchString(core) || asksYou(core) {
			return true
		}
		end := endsWith.FindStringIndex(text)
		if end == nil {
			return false
		}
		text = text[:end[0]]
	}
}

// leadsUp matches introductory words that are not part of the question.
var leadsUp = regexp.MustCompile(`(?i)^(?:please,? |so,? |well,? |just )*(?:(?:i|we)(?:['’]m| am| are|['’]re| was| were)? (?:just |only |also |still )?(?:wonder(?:ing)?|unsure|not sure|curious|asking myself|looking for|(?:need|want|like|trying|would like) to (?:know|find out|understand))|i['’]d like to know|(?:any|no) idea|(?:do|would) you (?:happen to )?know|(?:(?:can|could|would) you )?(?:please )?(?:tell|remind) me|wondering|looking for|not sure|unsure|need to know|(?:list|show|name|find|give me|tell me) (?:me )?(?:everything|all|anything)(?: that| which)?)(?: if| whether| about|:)? `)

var (
	// addressed matches a greeting with a name, or thanks to somebody, before a request.
	addressed = regexp.MustCompile(`^(?i:hi|hello|hey|hiya|dear|hallo|hoi|bonjour|salut|hola|thanks|thank you|cheers|good (?:morning|afternoon|evening))(?i: there| all| team| everyone)?,?(?: \p{Lu}\pL+){0,2}[,.!\n–—-]\s*`)
	// pleasantries matches sentences before a request that are not part of it.
	pleasantries = regexp.MustCompile(`^(?i:(?:(?:i|we) )?hope (?:you|this|all|everything)\b[^.?!\n]{0,60}|(?:so |very )?sorry (?:to|for|about) (?:both|disturb|troubl|interrupt|ask|the (?:late|many|another))[^.?!\n]{0,60}|(?:(?:i(?:['’]ve| have)?(?: got)?|just|here is) )*(?:an?(?:other)? |one )?(?:more |last )?(?:quick|short|small|simple|silly|stupid) (?:question|one|thing)[^.?!:\n]{0,40}|(?:it(?:['’]s| is) me|long time no see|me again|happy (?:new year|\w+day))[^.?!\n]{0,40})[.!:\n]\s*` +
		`|^(?i:it['’]s|this is|i['’]m|i am|my name is) \p{Lu}\pL+(?: \p{Lu}\pL+)?(?: (?:from|in|of|at|here)\b[^.?!\n]{0,40})?[.!\n]\s*`)
	// signature matches the end of a letter, with at most three words of a name.
	signature = regexp.MustCompile(`([.?!\n])\s*(?i:(?:many |with |and )?(?:thanks|thank you|thx|cheers|(?:best|kind|warm|many) (?:regards|wishes)|regards|sincerely|yours|best|bye|danke|merci|gracias|grazie|bedankt)(?: (?:you|truly|sincerely|a lot|a million|so much|very much|in advance|again|for (?:your|the|any) \w+))*)[\s,.!–—-]*(?:\p{Lu}[\pL.]*(?: \p{Lu}[\pL.]*){0,2})?[\s.!]*$`)
)

// WithoutTalk drops greetings before a request, the signature after it, and words that
// introduce a question: "Quick one before my three o'clock: how long is …?", "I wonder
// whether …". It returns the message unchanged when nothing else would be left.
func WithoutTalk(message string) string {
	rest := strings.TrimSpace(message)
	for _, bare := range []string{
		signature.ReplaceAllString(rest, "$1"),
		rest[len(addressed.FindString(rest)):],
		rest[len(pleasantries.FindString(rest)):],
	} {
		if bare = strings.TrimSpace(bare); bare != rest && len(SubjectWords(bare)) > 0 {
			return WithoutTalk(bare)
		}
	}
	if lead := leadsUp.FindString(rest); lead != "" && len(SubjectWords(rest[len(lead):])) > 0 {
		rest = strings.TrimSpace(rest[len(lead):])
	}
	for i, r := range rest {
		if !strings.ContainsRune(",.!:;\n–—", r) {
			continue
		}
		lead, after := rest[:i], strings.TrimSpace(rest[i+len(string(r)):])
		words := language.Words(lead)
		if len(words) > 0 && len(words) < maxTalk && isCourtesy(words) && after != "" {
			return WithoutTalk(after)
		}
		if r == ':' && beginsQuestion(after) && strings.HasSuffix(after, "?") && !AsksForDocuments(lead) && !strings.Contains(lead, "?") {
			return after
		}
	}
	return rest
}

var questionWords = language.Union(language.QuestionWords, language.NewSet(`is are was were do does did can could may must shall should will would has have`))

func beginsQuestion(s string) bool {
	words := language.Words(s)
	return len(words) > 2 && questionWords[words[0]]
}
