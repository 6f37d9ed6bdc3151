package language

var stopWords = Union(misspeltQuestionWords, NewSet(`a about above after again all also am an and any are as at be because been before being below
between both but by can else cannot could did do does doing done down during each either etc for from further get had has have
having he her here hers him his how however i if in into is it its itself just let like many may me might more most much
must my near neither no nor not of off on once one only or other our ours out over own per please rather same shall she
should since so some such than that the their theirs them then there therefore these they this those though through thus to
too under until up upon us very was we were what whatever when where whether which while who whom whose why will with
within without would yet you your yours im ive dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt
wouldnt hasnt havent hadnt thats whats theres lets tell give show say says said ok okay explain describe know want need find`))

// requestWords ask for an explanation but do not say of what.
var requestWords = NewSet(`clarify clarification elaborate outline provide provided detail details detailed example examples specific
specifically specify regarding concerning guidance insight insights consider considered ensure expect expected expects`)

// DocumentNouns are words that people use for a document. All rules share them; a rule
// that accepts more words adds its own.
var DocumentNouns = NewSet(`document documents doc docs file files paper papers pdf text texts version versions draft
policy policies circular circulars contract contracts agreement agreements guideline guidelines guidance report reports
regulation regulations rule rules standard standards code act directive procedure procedures handbook manual
memo memos notice letter letters email emails statement`)

// TitleNouns are DocumentNouns and more nouns that stand in titles.
var TitleNouns = Union(DocumentNouns, NewSet(`
mail manuals handbooks acts law laws rulebook directives notices statements framework brief note notes drafts
attachment attachments addendum annex appendix book article articles publication whitepaper`))

// Connecting are the words of a message that only mentions documents: verbs of the
// actions, prepositions, polite phrases, and nouns for a document. They add nothing to
// the action.
var Connecting = NewSet(`
summarize summarise summarizing summary summaries overview recap compare comparing comparison contrast
audit auditing check review verify inquire inquiry ask
a an the this these all both each of and or plus with to against versus vs between from in for on using
please kindly can could would you i we want like need me us let s lets do make give write create
document documents doc docs file files set sets`)

// Pointing are words by which a message refers to something said before.
var Pointing = NewSet(`
this that these those it its they them their he she both former latter same previous earlier above another other others
one ones first second third last again also`)

// Determiners stand before a noun without naming it.
var Determiners = NewSet(`
a an the this that these those my our your his her its their any some each every all both other another same
two three four five six several many few
previous earlier above said such which what attached uploaded new old latest current recent of in on to for and or with`)

// Common are words too frequent to tell documents or subjects apart.
var Common = Union(Connecting, Determiners, Pointing, NewSet(`
is are was were be been being am has have had does did done will shall should may might must can't
who whom whose where when why how what which there here then than so as at by about into over under after before
not no yes if but only just very much many more most less least few tell show explain describe list find get
say says said mean means know see want our ours yours mine he she him
regarding concerning according`))

// QuestionWords begin a question for a fact.
var QuestionWords = NewSet("what which who whom whose when where why how")
