package messages

import (
	"strconv"
	"strings"
)

// Texts of answers that rules write. The server words them, in the language of the question,
// and no client gets their codes.
var (
	NothingFound = answer("frame.nothing_found", "I found nothing in your documents that answers this.",
		"In Ihren Dokumenten habe ich nichts gefunden, was das beantwortet.",
		"Je n'ai rien trouvé dans vos documents qui réponde à cette question.",
		"No he encontrado nada en sus documentos que responda a esto.",
		"Ik heb in uw documenten niets gevonden dat dit beantwoordt.")
	NothingFor = answer("frame.nothing_for", "I found nothing for {what} in your documents. The answer before is about something else, so I do not repeat it.",
		"Für {what} habe ich in Ihren Dokumenten nichts gefunden. Die vorige Antwort gilt für etwas anderes, deshalb wiederhole ich sie nicht.",
		"Je n'ai rien trouvé pour {what} dans vos documents. La réponse précédente porte sur autre chose, je ne la répète donc pas.",
		"No he encontrado nada para {what} en sus documentos. La respuesta anterior trata de otra cosa, así que no la repito.",
		"Voor {what} heb ik in uw documenten niets gevonden. Het vorige antwoord gaat over iets anders, dus herhaal ik het niet.")
	Closest = answer("frame.closest", "Closest to it:",
		"Am nächsten kommt:", "Ce qui s'en approche le plus :", "Lo más parecido:", "Het dichtst erbij:")
	OtherLanguage = answer("frame.other_language", "Your question is in another language than the passages: without a language model I find only the same words.",
		"Ihre Frage ist in einer anderen Sprache als die Textstellen: Ohne KI-Modell finde ich nur gleiche Wörter.",
		"Votre question est dans une autre langue que les passages : sans modèle de langage, je ne trouve que les mêmes mots.",
		"Su pregunta está en otro idioma que los pasajes: sin un modelo de lenguaje solo encuentro las mismas palabras.",
		"Uw vraag is in een andere taal dan de passages: zonder taalmodel vind ik alleen dezelfde woorden.")
	NeedsModel = answer("frame.needs_model", "Without a language model I cannot translate, write, reword or calculate.",
		"Ohne KI-Modell kann ich nicht übersetzen, schreiben, umformulieren oder rechnen.",
		"Sans modèle de langage, je ne peux ni traduire, ni écrire, ni reformuler, ni calculer.",
		"Sin un modelo de lenguaje no puedo traducir, escribir, reformular ni calcular.",
		"Zonder taalmodel kan ik niet vertalen, schrijven, herformuleren of rekenen.")
	NoJudgement = answer("frame.no_judgement", "Without a language model I have no opinion, and cannot assess or advise.",
		"Ohne KI-Modell habe ich keine Meinung und kann weder bewerten noch raten.",
		"Sans modèle de langage, je n'ai pas d'avis et ne peux ni évaluer ni conseiller.",
		"Sin un modelo de lenguaje no tengo opinión y no puedo valorar ni aconsejar.",
		"Zonder taalmodel heb ik geen mening en kan ik niet beoordelen of adviseren.")
	NoRanking = answer("frame.no_ranking", "Without a language model I cannot say what matters most.",
		"Ohne KI-Modell kann ich nicht sagen, was am wichtigsten ist.",
		"Sans modèle de langage, je ne peux pas dire ce qui compte le plus.",
		"Sin un modelo de lenguaje no puedo decir qué es lo más importante.",
		"Zonder taalmodel kan ik niet zeggen wat het belangrijkst is.")
	MayHelp = answer("frame.may_help", "These passages may help.",
		"Diese Stellen helfen vielleicht.", "Ces passages peuvent aider.", "Estos pasajes pueden ayudar.", "Deze passages helpen misschien.")
	AccordingTo = answer("frame.according_to", "According to {title}:",
		"Laut {title}:", "Selon {title} :", "Según {title}:", "Volgens {title}:")
	RowsSeen = answer("frame.rows_seen", "I saw {n:rows} of this table. Without a language model I do not count or calculate over a table.",
		"Ich habe {n:rows} dieser Tabelle gesehen. Ohne KI-Modell zähle und rechne ich nicht über eine Tabelle.",
		"J'ai vu {n:rows} de ce tableau. Sans modèle de langage, je ne compte ni ne calcule sur un tableau.",
		"He visto {n:rows} de esta tabla. Sin un modelo de lenguaje no cuento ni calculo sobre una tabla.",
		"Ik heb {n:rows} van deze tabel gezien. Zonder taalmodel tel of reken ik niet over een tabel.")

	SearchedNothing = answer("frame.searched_nothing", "The search for {query} found nothing in your documents.",
		"Die Suche nach {query} hat in Ihren Dokumenten nichts gefunden.",
		"La recherche de {query} n'a rien trouvé dans vos documents.",
		"La búsqueda de {query} no encontró nada en sus documentos.",
		"De zoekopdracht {query} heeft in uw documenten niets gevonden.")
	Searched = answer("frame.searched", "The search for {query} found:",
		"Die Suche nach {query} hat gefunden:", "La recherche de {query} a trouvé :", "La búsqueda de {query} encontró:", "De zoekopdracht {query} heeft gevonden:")
	SeesNoPictures = answer("frame.sees_no_pictures", "I cannot see pictures: without a language model the attached ones are not looked at.",
		"Ich kann keine Bilder sehen: Ohne KI-Modell werden die angehängten nicht angesehen.",
		"Je ne vois pas les images : sans modèle de langage, celles qui sont jointes ne sont pas regardées.",
		"No veo imágenes: sin un modelo de lenguaje, las adjuntas no se miran.",
		"Ik kan geen afbeeldingen zien: zonder taalmodel worden de bijgevoegde niet bekeken.")
	OfflineEngine = answer("frame.offline_engine", "I am Palaver's offline engine. No language model is configured on this server, so I cannot hold a conversation.",
		"Ich bin Palavers Offline-Engine. Auf diesem Server ist kein KI-Modell eingerichtet, deshalb kann ich kein Gespräch führen.",
		"Je suis le moteur hors ligne de Palaver. Aucun modèle de langage n'est configuré sur ce serveur, je ne peux donc pas converser.",
		"Soy el motor sin conexión de Palaver. En este servidor no hay ningún modelo de lenguaje configurado, así que no puedo conversar.",
		"Ik ben de offline-engine van Palaver. Op deze server is geen taalmodel ingesteld, dus ik kan geen gesprek voeren.")
	CanDo = answer("frame.can_do", "What I can do:", "Das kann ich:", "Ce que je peux faire :", "Lo que puedo hacer:", "Dit kan ik:")
	// The commands in asterisks are read in these words only.
	CanSearch = answer("frame.can_search", "search your documents: *search my documents for notice periods*",
		"Ihre Dokumente durchsuchen: *search my documents for notice periods*",
		"chercher dans vos documents : *search my documents for notice periods*",
		"buscar en sus documentos: *search my documents for notice periods*",
		"uw documenten doorzoeken: *search my documents for notice periods*")
	CanList = answer("frame.can_list", "list them: *list my documents*",
		"sie auflisten: *list my documents*", "en donner la liste : *list my documents*", "enumerarlos: *list my documents*", "ze opsommen: *list my documents*")
	CanDraw = answer("frame.can_draw", "draw a placeholder for a picture: *draw a lighthouse*",
		"einen Platzhalter für ein Bild zeichnen: *draw a lighthouse*",
		"dessiner une image provisoire : *draw a lighthouse*",
		"dibujar una imagen provisional: *draw a lighthouse*",
		"een voorlopige afbeelding tekenen: *draw a lighthouse*")
	CanCall = answer("frame.can_call", "call a tool that you name, with its arguments: *call {tool} name=value*. There are {tools}.",
		"ein Werkzeug aufrufen, das Sie nennen, mit seinen Argumenten: *call {tool} name=value*. Es gibt {tools}.",
		"appeler un outil que vous nommez, avec ses arguments : *call {tool} name=value*. Il y a {tools}.",
		"llamar a una herramienta que usted nombre, con sus argumentos: *call {tool} name=value*. Hay {tools}.",
		"een tool aanroepen die u noemt, met zijn argumenten: *call {tool} name=value*. Er zijn {tools}.")
	MoreTools = answer("frame.more_tools", "{n:number} more", "{n:number} weitere", "{n:number} autres", "{n:number} más", "{n:number} andere")

	NothingToSummarize = answer("frame.nothing_to_summarize", "There is nothing to summarize: no readable passage was found.",
		"Es gibt nichts zusammenzufassen: Es wurde keine lesbare Stelle gefunden.",
		"Il n'y a rien à résumer : aucun passage lisible n'a été trouvé.",
		"No hay nada que resumir: no se encontró ningún pasaje legible.",
		"Er valt niets samen te vatten: er is geen leesbare passage gevonden.")
	NoSentence = answer("frame.no_sentence", "There is nothing to summarize: the documents hold no whole sentence.",
		"Es gibt nichts zusammenzufassen: Die Dokumente enthalten keinen ganzen Satz.",
		"Il n'y a rien à résumer : les documents ne contiennent aucune phrase entière.",
		"No hay nada que resumir: los documentos no contienen ninguna frase completa.",
		"Er valt niets samen te vatten: de documenten bevatten geen hele zin.")
	OwnSentences = answer("frame.own_sentences", "Without a language model I cannot reword a text: these are its central sentences.",
		"Ohne KI-Modell kann ich einen Text nicht umformulieren: Das sind seine wichtigsten Sätze.",
		"Sans modèle de langage, je ne peux pas reformuler un texte : voici ses phrases centrales.",
		"Sin un modelo de lenguaje no puedo reformular un texto: estas son sus frases centrales.",
		"Zonder taalmodel kan ik een tekst niet herformuleren: dit zijn de belangrijkste zinnen.")
	FewerPoints = answer("frame.fewer_points", "You asked for {wanted:number} points. There are only {n:sentences} that can stand alone.",
		"Gefragt waren {wanted:number} Punkte. Für sich allein stehen können nur {n:sentences}.",
		"Vous avez demandé {wanted:number} points. Seulement {n:sentences} peuvent être lues seules.",
		"Ha pedido {wanted:number} puntos. Solo {n:sentences} se entienden por sí solas.",
		"U vroeg om {wanted:number} punten. Er zijn maar {n:sentences} die op zichzelf staan.")
	NotShortened = answer("frame.not_shortened", "Each of the {n:documents} needs at least one point, so there are more than you asked for.",
		"Jedes der {n:documents} braucht mindestens einen Punkt, deshalb sind es mehr als gefragt.",
		"Chacun des {n:documents} a besoin d'au moins un point ; il y en a donc plus que demandé.",
		"Cada uno de los {n:documents} necesita al menos un punto, así que hay más de los pedidos.",
		"Elk van de {n:documents} heeft minstens één punt nodig, dus zijn het er meer dan gevraagd.")
	FirstRows = answer("frame.first_rows", "The first rows of {table}:",
		"Die ersten Zeilen von {table}:", "Les premières lignes de {table} :", "Las primeras filas de {table}:", "De eerste rijen van {table}:")

	NothingToCompare = answer("frame.nothing_to_compare", "There is nothing to compare: passages of two documents are needed.",
		"Es gibt nichts zu vergleichen: Dafür braucht es Stellen aus zwei Dokumenten.",
		"Il n'y a rien à comparer : il faut des passages de deux documents.",
		"No hay nada que comparar: se necesitan pasajes de dos documentos.",
		"Er valt niets te vergelijken: er zijn passages uit twee documenten nodig.")
	NothingInCommon = answer("frame.nothing_in_common", "{a} and {b} have no passage in common that could be set side by side.",
		"{a} und {b} haben keine gemeinsame Stelle, die sich nebeneinander stellen ließe.",
		"{a} et {b} n'ont aucun passage commun qui puisse être mis côte à côte.",
		"{a} y {b} no tienen ningún pasaje en común que se pueda poner lado a lado.",
		"{a} en {b} hebben geen gemeenschappelijke passage die naast elkaar kan staan.")
	Compared = answer("frame.compared", "{a} and {b}: {differences:differences} and {agreements:agreements} found.",
		"{a} und {b}: {differences:differences} und {agreements:agreements} gefunden.",
		"{a} et {b} : {differences:differences} et {agreements:agreements}.",
		"{a} y {b}: {differences:differences} y {agreements:agreements}.",
		"{a} en {b}: {differences:differences} en {agreements:agreements} gevonden.")
	Subject   = answer("frame.subject", "Subject", "Thema", "Sujet", "Tema", "Onderwerp")
	Result    = answer("frame.result", "Result", "Ergebnis", "Résultat", "Resultado", "Resultaat")
	Agrees    = answer("frame.agrees", "Agrees", "Gleich", "Identique", "Coincide", "Gelijk")
	Differs   = answer("frame.differs", "Differs: {how}", "Verschieden: {how}", "Diffère : {how}", "Difiere: {how}", "Verschilt: {how}")
	OnlyInOne = answer("frame.only_in_one", "Only in one", "Nur in einem", "Dans un seul", "Solo en uno", "Slechts in één")
	Worded    = answer("frame.worded", "worded differently", "anders formuliert", "formulé autrement", "redactado de otra forma", "anders verwoord")
	Forbidden = answer("frame.forbidden", "forbidden", "verboten", "interdit", "prohibido", "verboden")
	Must      = answer("frame.must", "must", "muss", "obligatoire", "obligatorio", "moet")
	Should    = answer("frame.should", "should", "soll", "recommandé", "recomendado", "zou moeten")
	May       = answer("frame.may", "may", "darf", "autorisé", "permitido", "mag")

	NoRules = answer("frame.no_rules", "There is nothing to audit against: the documents hold no sentence that reads like a rule.",
		"Es gibt nichts, wogegen sich prüfen ließe: Die Dokumente enthalten keinen Satz, der wie eine Regel klingt.",
		"Il n'y a rien à quoi comparer : les documents ne contiennent aucune phrase qui ressemble à une règle.",
		"No hay nada con que contrastar: los documentos no contienen ninguna frase que parezca una regla.",
		"Er is niets om aan te toetsen: de documenten bevatten geen zin die op een regel lijkt.")
	NoTextToAudit = answer("frame.no_text_to_audit", "There is nothing to audit: the message holds no text to check.",
		"Es gibt nichts zu prüfen: Die Nachricht enthält keinen Text dafür.",
		"Il n'y a rien à vérifier : le message ne contient aucun texte à contrôler.",
		"No hay nada que revisar: el mensaje no contiene ningún texto.",
		"Er valt niets te controleren: het bericht bevat geen tekst daarvoor.")
	AuditScope = answer("frame.audit_scope", "{rules:rules} of the documents, {text:sentences} of the text, set against each other by their words",
		"{rules:rules} der Dokumente, {text:sentences} des Textes, verglichen nach ihren Wörtern",
		"{rules:rules} des documents, {text:sentences} du texte, comparées par leurs mots",
		"{rules:rules} de los documentos, {text:sentences} del texto, comparadas por sus palabras",
		"{rules:rules} uit de documenten, {text:sentences} van de tekst, vergeleken op hun woorden")
	NoBreach = answer("frame.no_breach", "**No breach found in what could be compared**: {judged:number} of {text:sentences} of the text ({scope}). The rest was not judged.",
		"**Kein Verstoß in dem gefunden, was sich vergleichen ließ**: {judged:number} von {text:sentences} des Textes ({scope}). Der Rest wurde nicht beurteilt.",
		"**Aucune infraction trouvée dans ce qui a pu être comparé** : {judged:number} sur {text:sentences} du texte ({scope}). Le reste n'a pas été jugé.",
		"**Ninguna infracción en lo que se pudo comparar**: {judged:number} de {text:sentences} del texto ({scope}). El resto no se ha valorado.",
		"**Geen overtreding gevonden in wat vergeleken kon worden**: {judged:number} van {text:sentences} van de tekst ({scope}). De rest is niet beoordeeld.")
	FindingsFound = answer("frame.findings", "**{n:findings}** ({scope}). Check each one.",
		"**{n:findings}** ({scope}). Prüfen Sie jede einzeln.",
		"**{n:findings}** ({scope}). Vérifiez chacune.",
		"**{n:findings}** ({scope}). Compruebe cada uno.",
		"**{n:findings}** ({scope}). Controleer ze stuk voor stuk.")
	FindingsHidden = answer("frame.findings_hidden", "{n:further} not shown.",
		"{n:further} nicht gezeigt.", "{n:further}, sans détail ici.", "{n:further} sin mostrar.", "{n:further} niet getoond.")
	CannotJudge = answer("frame.cannot_judge", "**I could not judge this.** No sentence of the text could be compared with a rule ({scope}). That does not mean that it breaks none. These rules may matter:",
		"**Das konnte ich nicht beurteilen.** Kein Satz des Textes ließ sich mit einer Regel vergleichen ({scope}). Das heißt nicht, dass er keine verletzt. Diese Regeln könnten wichtig sein:",
		"**Je n'ai pas pu juger cela.** Aucune phrase du texte n'a pu être comparée à une règle ({scope}). Cela ne veut pas dire qu'il n'en enfreint aucune. Ces règles peuvent compter :",
		"**No he podido valorarlo.** Ninguna frase del texto se pudo comparar con una regla ({scope}). Eso no significa que no incumpla ninguna. Estas reglas pueden importar:",
		"**Dit kon ik niet beoordelen.** Geen zin van de tekst kon met een regel worden vergeleken ({scope}). Dat betekent niet dat er geen wordt overtreden. Deze regels kunnen van belang zijn:")
	Severity  = answer("frame.severity", "Severity", "Schwere", "Gravité", "Gravedad", "Ernst")
	Rule      = answer("frame.rule", "Rule", "Regel", "Règle", "Regla", "Regel")
	Text      = answer("frame.text", "Text", "Text", "Texte", "Texto", "Tekst")
	Why       = answer("frame.why", "Why", "Grund", "Raison", "Motivo", "Reden")
	High      = answer("frame.high", "High", "Hoch", "Élevée", "Alta", "Hoog")
	Medium    = answer("frame.medium", "Medium", "Mittel", "Moyenne", "Media", "Middel")
	Low       = answer("frame.low", "Low", "Niedrig", "Faible", "Baja", "Laag")
	InOrder   = answer("frame.in_order", "In order", "In Ordnung", "En règle", "En orden", "In orde")
	FitsRule  = answer("frame.fits_rule", "{text} fits the rule {rule}", "{text} entspricht der Regel {rule}", "{text} respecte la règle {rule}", "{text} cumple la regla {rule}", "{text} past bij de regel {rule}")
	Restricts = answer("frame.restricts", "the text does what the rule restricts",
		"der Text tut, was die Regel einschränkt", "le texte fait ce que la règle restreint", "el texto hace lo que la regla restringe", "de tekst doet wat de regel beperkt")
	LeavesOut = answer("frame.leaves_out", "the text leaves out or denies what the rule demands",
		"der Text lässt weg oder verneint, was die Regel verlangt", "le texte omet ou nie ce que la règle exige", "el texto omite o niega lo que la regla exige", "de tekst laat weg of ontkent wat de regel eist")
	AtMost = answer("frame.at_most", "the text says {said}, the rule allows at most {bound}",
		"im Text steht {said}, die Regel erlaubt höchstens {bound}", "le texte dit {said}, la règle autorise au plus {bound}", "el texto dice {said}, la regla permite como máximo {bound}", "in de tekst staat {said}, de regel staat hoogstens {bound} toe")
	AtLeast = answer("frame.at_least", "the text says {said}, the rule asks for at least {bound}",
		"im Text steht {said}, die Regel verlangt mindestens {bound}", "le texte dit {said}, la règle demande au moins {bound}", "el texto dice {said}, la regla pide al menos {bound}", "in de tekst staat {said}, de regel vraagt minstens {bound}")
	LastDay = answer("frame.last_day", "the text says {said}, the rule sets {bound} as the last day",
		"im Text steht {said}, die Regel nennt {bound} als letzten Tag", "le texte dit {said}, la règle fixe {bound} comme dernier jour", "el texto dice {said}, la regla fija {bound} como último día", "in de tekst staat {said}, de regel noemt {bound} als laatste dag")

	NoneFailed     = answer("frame.none_failed", "No document has failed.", "Kein Dokument ist fehlgeschlagen.", "Aucun document n'a échoué.", "Ningún documento ha fallado.", "Er is geen document mislukt.")
	NoneImported   = answer("frame.none_imported", "Nothing has been imported.", "Es wurde nichts importiert.", "Rien n'a été importé.", "No se ha importado nada.", "Er is niets geïmporteerd.")
	NoDocument     = answer("frame.no_document", "There is no document yet. Add one with the button at the message box.", "Es gibt noch kein Dokument. Fügen Sie eines mit der Schaltfläche am Nachrichtenfeld hinzu.", "Il n'y a pas encore de document. Ajoutez-en un avec le bouton près du champ de message.", "Todavía no hay ningún documento. Añada uno con el botón junto al mensaje.", "Er is nog geen document. Voeg er een toe met de knop bij het berichtveld.")
	NoDocumentAsk  = answer("frame.no_document_ask", "There is no document yet. Add one with the button at the message box, and then ask, for example:", "Es gibt noch kein Dokument. Fügen Sie eines mit der Schaltfläche am Nachrichtenfeld hinzu und fragen Sie dann zum Beispiel:", "Il n'y a pas encore de document. Ajoutez-en un avec le bouton près du champ de message, puis demandez par exemple :", "Todavía no hay ningún documento. Añada uno con el botón junto al mensaje y pregunte, por ejemplo:", "Er is nog geen document. Voeg er een toe met de knop bij het berichtveld en vraag dan bijvoorbeeld:")
	NoSuchDocument = answer("frame.no_such_document", "I found no such document. There {n:are} in the library.", "So ein Dokument habe ich nicht gefunden. In der Bibliothek: {n:documents}.", "Je n'ai pas trouvé de tel document. Dans la bibliothèque : {n:documents}.", "No he encontrado ese documento. En la biblioteca: {n:documents}.", "Zo'n document heb ik niet gevonden. In de bibliotheek: {n:documents}.")
	DocumentsHere  = answer("frame.documents_here", "There {n:are} that you can ask about:", "Sie können {n:documents} befragen:", "Vous pouvez interroger {n:documents} :", "Puede preguntar sobre {n:documents}:", "U kunt vragen stellen over {n:documents}:")
	SamplesHere    = answer("frame.samples_here", "There {n:are}, all of them samples for everyone:", "Es gibt {n:documents}, alles Beispiele für alle:", "Il y a {n:documents}, tous des exemples pour tout le monde :", "Hay {n:documents}, todos ejemplos para todos:", "Dit zijn {n:documents}, allemaal voorbeelden voor iedereen:")
	StillRead      = answer("frame.still_read", "Still being read:", "Werden noch gelesen:", "Encore en cours de lecture :", "Todavía en lectura:", "Worden nog gelezen:")
	FailedToRead   = answer("frame.failed_to_read", "These failed and cannot be read:", "Diese sind fehlgeschlagen und nicht lesbar:", "Ceux-ci ont échoué et ne peuvent pas être lus :", "Estos han fallado y no se pueden leer:", "Deze zijn mislukt en niet leesbaar:")
	SamplesToo     = answer("frame.samples_too", "Besides, there {n:aresamples} for everyone.", "Dazu kommen {n:samples} für alle.", "S'y ajoutent {n:samples} pour tout le monde.", "Además hay {n:samples} para todos.", "Daarnaast zijn er {n:samples} voor iedereen.")
	AddedOn        = answer("frame.added_on", "added on {day}", "hinzugefügt am {day}", "ajouté le {day}", "añadido el {day}", "toegevoegd op {day}")
	AndMore        = answer("frame.and_more", "and {n:number} more", "und {n:number} weitere", "et {n:number} de plus", "y {n:number} más", "en nog {n:number}")

	ToolRejected    = answer("frame.tool_rejected", "You rejected {tool}, so it was not called.", "Sie haben {tool} abgelehnt, es wurde nicht aufgerufen.", "Vous avez refusé {tool}, qui n'a donc pas été appelé.", "Ha rechazado {tool}, por lo que no se ha llamado.", "U hebt {tool} geweigerd, dus het is niet aangeroepen.")
	ToolRejectedWhy = answer("frame.tool_rejected_why", "Your reason: {reason}.", "Ihr Grund: {reason}.", "Votre raison : {reason}.", "Su motivo: {reason}.", "Uw reden: {reason}.")
	ToolNoResult    = answer("frame.tool_no_result", "{tool} gave no result:", "{tool} lieferte kein Ergebnis:", "{tool} n'a donné aucun résultat :", "{tool} no dio ningún resultado:", "{tool} gaf geen resultaat:")
	ToolEmpty       = answer("frame.tool_empty", "{tool} returned nothing.", "{tool} lieferte nichts.", "{tool} n'a rien renvoyé.", "{tool} no devolvió nada.", "{tool} gaf niets terug.")
	ToolReturned    = answer("frame.tool_returned", "{tool} returned:", "{tool} lieferte:", "{tool} a renvoyé :", "{tool} devolvió:", "{tool} gaf terug:")
	ToolMissing     = answer("frame.tool_missing", "To call {tool} I need {names}. Write it like this: {example}", "Um {tool} aufzurufen, brauche ich {names}. Schreiben Sie es so: {example}", "Pour appeler {tool}, il me faut {names}. Écrivez par exemple : {example}", "Para llamar a {tool} necesito {names}. Escríbalo así: {example}", "Om {tool} aan te roepen heb ik {names} nodig. Schrijf het zo: {example}")

	PictureHere        = answer("frame.picture_here", "Here is the picture:", "Hier ist das Bild:", "Voici l'image :", "Aquí está la imagen:", "Hier is de afbeelding:")
	PicturePlaceholder = answer("frame.picture_placeholder", "It is only a placeholder: no image model is configured.", "Es ist nur ein Platzhalter: Es ist kein Bildmodell eingerichtet.", "Ce n'est qu'un exemple : aucun modèle d'images n'est configuré.", "Es solo una muestra: no hay ningún modelo de imágenes configurado.", "Het is maar een voorbeeld: er is geen beeldmodel ingesteld.")

	Welcome  = answer("frame.welcome", "You're welcome!", "Gern geschehen!", "Avec plaisir !", "¡De nada!", "Graag gedaan!")
	Goodbye  = answer("frame.goodbye", "Goodbye!", "Auf Wiedersehen!", "Au revoir !", "¡Adiós!", "Tot ziens!")
	Good     = answer("frame.good", "Good.", "Gut.", "Bien.", "Bien.", "Goed.")
	Hello    = answer("frame.hello", "Hello! I am Palaver.", "Hallo! Ich bin Palaver.", "Bonjour ! Je suis Palaver.", "¡Hola! Soy Palaver.", "Hallo! Ik ben Palaver.")
	WhatICan = answer("frame.what_i_can", "I can **summarize** your documents, **answer questions** from them with quotations, **compare** two or more of them, and **audit** a text, such as an email, against their rules.",
		"Ich kann Ihre Dokumente **zusammenfassen**, daraus mit Zitaten **Fragen beantworten**, zwei oder mehr davon **vergleichen** und einen Text, etwa eine E-Mail, an ihren Regeln **prüfen**.",
		"Je peux **résumer** vos documents, **répondre à des questions** avec des citations, en **comparer** deux ou plus, et **vérifier** un texte, par exemple un e-mail, selon leurs règles.",
		"Puedo **resumir** sus documentos, **responder preguntas** con citas, **comparar** dos o más de ellos y **revisar** un texto, como un correo, según sus reglas.",
		"Ik kan uw documenten **samenvatten**, er met citaten **vragen uit beantwoorden**, twee of meer ervan **vergelijken** en een tekst, zoals een e-mail, aan hun regels **toetsen**.")
	AmongThem = answer("frame.among_them", "There {n:are}, among them {titles}. You could ask:",
		"Es gibt {n:documents}, darunter {titles}. Sie könnten fragen:",
		"Il y a {n:documents}, dont {titles}. Vous pourriez demander :",
		"Hay {n:documents}, entre ellos {titles}. Podría preguntar:",
		"Dit zijn {n:documents}, waaronder {titles}. U kunt vragen:")
	AskSummary     = answer("frame.ask_summary", "Summarize {title}", "Fasse {title} zusammen", "Résume {title}", "Resume {title}", "Vat {title} samen")
	AskDeadlines   = answer("frame.ask_deadlines", "What does {title} say about deadlines?", "Was steht in {title} über Fristen?", "Que dit {title} sur les délais ?", "¿Qué dice {title} sobre los plazos?", "Wat zegt {title} over termijnen?")
	AskCheck       = answer("frame.ask_check", "Check this email against {title}: …", "Prüfe diese E-Mail gegen {title}: …", "Vérifie cet e-mail selon {title} : …", "Revisa este correo según {title}: …", "Controleer deze e-mail aan de hand van {title}: …")
	AskCompareTwo  = answer("frame.ask_compare_two", "Compare {a} and {b}", "Vergleiche {a} und {b}", "Compare {a} et {b}", "Compara {a} y {b}", "Vergelijk {a} en {b}")
	AskSummaryMine = answer("frame.ask_summary_mine", "Summarize my document", "Fasse mein Dokument zusammen", "Résume mon document", "Resume mi documento", "Vat mijn document samen")
	AskNoticeMine  = answer("frame.ask_notice_mine", "What does it say about notice periods?", "Was steht darin über Kündigungsfristen?", "Que dit-il sur les préavis ?", "¿Qué dice sobre los plazos de preaviso?", "Wat staat erin over opzegtermijnen?")
	AskCheckMine   = answer("frame.ask_check_mine", "Check this email against it: …", "Prüfe diese E-Mail daran: …", "Vérifie cet e-mail selon ce document : …", "Revisa este correo según él: …", "Controleer deze e-mail daaraan: …")

	// The last line of every answer without a model. The page removes it: it says so elsewhere.
	AnswerOffline = answer("answer.offline", "Offline engine: quoted from your documents, no language model is configured.",
		"Offline-Engine: aus Ihren Dokumenten zitiert, es ist kein KI-Modell eingerichtet.",
		"Moteur hors ligne : cité de vos documents, aucun modèle de langage n'est configuré.",
		"Motor sin conexión: citado de sus documentos, no hay ningún modelo de lenguaje configurado.",
		"Offline-engine: geciteerd uit uw documenten, er is geen taalmodel ingesteld.")
	AnswerOfflinePlain = answer("answer.offline_plain", "Offline engine: no language model is configured.",
		"Offline-Engine: Es ist kein KI-Modell eingerichtet.",
		"Moteur hors ligne : aucun modèle de langage n'est configuré.",
		"Motor sin conexión: no hay ningún modelo de lenguaje configurado.",
		"Offline-engine: er is geen taalmodel ingesteld.")

	NoRow        = answer("frame.no_row", "No row matches: 0 of {of}.", "Keine Zeile passt: 0 von {of}.", "Aucune ligne ne correspond : 0 sur {of}.", "Ninguna fila coincide: 0 de {of}.", "Geen rij voldoet: 0 van {of}.")
	CountedRows  = answer("frame.rows", "{n:rows}", "{n:rows}", "{n:rows}", "{n:rows}", "{n:rows}")
	RowsOf       = answer("frame.rows_of", "{n:rows} of {table}", "{n:rows} von {table}", "{n:rows} de {table}", "{n:rows} de {table}", "{n:rows} van {table}")
	SomeOf       = answer("frame.some_of", "{n:number} of {of}", "{n:number} von {of}", "{n:number} sur {of}", "{n:number} de {of}", "{n:number} van {of}")
	MoreRows     = answer("frame.more_rows", "and {n:morerows}.", "und {n:morerows}.", "et {n:morerows}.", "y {n:morerows}.", "en {n:morerows}.")
	RowMatches   = answer("frame.row_matches", "{what} matches: {of}.", "{what} passt: {of}.", "{what} correspond : {of}.", "{what} coincide: {of}.", "{what} voldoet: {of}.")
	RowsMatch    = answer("frame.rows_match", "{what} match: {of}.", "{what} passen: {of}.", "{what} correspondent : {of}.", "{what} coinciden: {of}.", "{what} voldoen: {of}.")
	ShareMatches = answer("frame.share_matches", "**{percent} %** of the rows match: {of}.", "**{percent} %** der Zeilen passen: {of}.", "**{percent} %** des lignes correspondent : {of}.", "**{percent} %** de las filas coinciden: {of}.", "**{percent} %** van de rijen voldoen: {of}.")
	Different    = answer("frame.different", "{n:number} different values of {column} in {rows}", "{n:number} verschiedene Werte von {column} in {rows}", "{n:number} valeurs différentes de {column} dans {rows}", "{n:number} valores distintos de {column} en {rows}", "{n:number} verschillende waarden van {column} in {rows}")
	SumOfTheir   = answer("frame.sum_of_their", "The sum of their {column} is **{value}**.", "Die Summe von {column} ist **{value}**.", "La somme de leur {column} est **{value}**.", "La suma de {column} es **{value}**.", "De som van {column} is **{value}**.")
	TotalOf      = answer("frame.total_of", "The total of {column} is **{value}**, over {of}.", "Die Summe von {column} ist **{value}**, über {of}.", "Le total de {column} est **{value}**, sur {of}.", "El total de {column} es **{value}**, sobre {of}.", "Het totaal van {column} is **{value}**, over {of}.")
	AverageOf    = answer("frame.average_of", "The average of {column} is **{value}**, over {of}.", "Der Durchschnitt von {column} ist **{value}**, über {of}.", "La moyenne de {column} est **{value}**, sur {of}.", "El promedio de {column} es **{value}**, sobre {of}.", "Het gemiddelde van {column} is **{value}**, over {of}.")
	HighestIs    = answer("frame.highest_is", "The highest {column} is {value}, of {of}.", "Höchster Wert von {column}: {value}, von {of}.", "La valeur la plus élevée de {column} est {value}, sur {of}.", "El valor más alto de {column} es {value}, de {of}.", "De hoogste waarde van {column} is {value}, van {of}.")
	LowestIs     = answer("frame.lowest_is", "The lowest {column} is {value}, of {of}.", "Niedrigster Wert von {column}: {value}, von {of}.", "La valeur la plus basse de {column} est {value}, sur {of}.", "El valor más bajo de {column} es {value}, de {of}.", "De laagste waarde van {column} is {value}, van {of}.")
	LatestIs     = answer("frame.latest_is", "The latest {column} is {value}, of {of}.", "Spätester Wert von {column}: {value}, von {of}.", "La date la plus tardive de {column} est {value}, sur {of}.", "La fecha más tardía de {column} es {value}, de {of}.", "De laatste waarde van {column} is {value}, van {of}.")
	EarliestIs   = answer("frame.earliest_is", "The earliest {column} is {value}, of {of}.", "Frühester Wert von {column}: {value}, von {of}.", "La date la plus ancienne de {column} est {value}, sur {of}.", "La fecha más temprana de {column} es {value}, de {of}.", "De vroegste waarde van {column} is {value}, van {of}.")
	RatioIs      = answer("frame.ratio", "{name} is **{share}** ({percent} %) of {other} ({column}) in {table}.", "{name} ist das **{share}**-Fache ({percent} %) von {other} ({column}) in {table}.", "{name} est **{share}** fois ({percent} %) {other} ({column}) dans {table}.", "{name} es **{share}** veces ({percent} %) {other} ({column}) en {table}.", "{name} is **{share}** keer ({percent} %) {other} ({column}) in {table}.")
	DifferenceIs = answer("frame.difference", "The difference between {name} and {other} is **{value}** ({column}) in {table}.", "Der Unterschied zwischen {name} und {other} ist **{value}** ({column}) in {table}.", "La différence entre {name} et {other} est **{value}** ({column}) dans {table}.", "La diferencia entre {name} y {other} es **{value}** ({column}) en {table}.", "Het verschil tussen {name} en {other} is **{value}** ({column}) in {table}.")
	ChangedBy    = answer("frame.changed_by", "{name} changed by {change}: from {before} ({from}) to {after} ({to}), in {table}.", "{name} hat sich um {change} geändert: von {before} ({from}) auf {after} ({to}), in {table}.", "{name} a changé de {change} : de {before} ({from}) à {after} ({to}), dans {table}.", "{name} ha cambiado en {change}: de {before} ({from}) a {after} ({to}), en {table}.", "{name} is met {change} veranderd: van {before} ({from}) naar {after} ({to}), in {table}.")
	AverageOver  = answer("frame.average_over", "The average of {name} over {columns} is **{value}**, in {table}.", "Der Durchschnitt von {name} über {columns} ist **{value}**, in {table}.", "La moyenne de {name} sur {columns} est **{value}**, dans {table}.", "El promedio de {name} sobre {columns} es **{value}**, en {table}.", "Het gemiddelde van {name} over {columns} is **{value}**, in {table}.")
	TotalOver    = answer("frame.total_over", "The total of {name} over {columns} is **{value}**, in {table}.", "Die Summe von {name} über {columns} ist **{value}**, in {table}.", "Le total de {name} sur {columns} est **{value}**, dans {table}.", "El total de {name} sobre {columns} es **{value}**, en {table}.", "Het totaal van {name} over {columns} is **{value}**, in {table}.")
	HighestIn    = answer("frame.highest_in", "{name} is highest in **{column}**: **{value}**, of {n:columns} in {table}.", "{name} ist am höchsten in **{column}**: **{value}**, von {n:columns} in {table}.", "{name} est au plus haut dans **{column}** : **{value}**, sur {n:columns} dans {table}.", "{name} es más alto en **{column}**: **{value}**, de {n:columns} en {table}.", "{name} is het hoogst in **{column}**: **{value}**, van {n:columns} in {table}.")
	LowestIn     = answer("frame.lowest_in", "{name} is lowest in **{column}**: **{value}**, of {n:columns} in {table}.", "{name} ist am niedrigsten in **{column}**: **{value}**, von {n:columns} in {table}.", "{name} est au plus bas dans **{column}** : **{value}**, sur {n:columns} dans {table}.", "{name} es más bajo en **{column}**: **{value}**, de {n:columns} en {table}.", "{name} is het laagst in **{column}**: **{value}**, van {n:columns} in {table}.")
	ValuesIn     = answer("frame.values_in", "{name}: {values}, in {table}.", "{name}: {values}, in {table}.", "{name} : {values}, dans {table}.", "{name}: {values}, en {table}.", "{name}: {values}, in {table}.")
	NotPaid      = answer("frame.not_paid", "not paid", "nicht bezahlt", "impayé", "no pagado", "niet betaald")
	Paid         = answer("frame.paid", "paid", "bezahlt", "payé", "pagado", "betaald")
	Above        = answer("frame.above", "above {value}", "über {value}", "au-dessus de {value}", "por encima de {value}", "boven {value}")
	Below        = answer("frame.below", "below {value}", "unter {value}", "au-dessous de {value}", "por debajo de {value}", "onder {value}")
	After        = answer("frame.after", "after {day}", "nach {day}", "après {day}", "después de {day}", "na {day}")
	Before       = answer("frame.before", "before {day}", "vor {day}", "avant {day}", "antes de {day}", "voor {day}")
	Between      = answer("frame.between", "between {range}", "zwischen {range}", "entre {range}", "entre {range}", "tussen {range}")
	Yes          = answer("frame.yes", "yes", "ja", "oui", "sí", "ja")
	JoinTwo      = answer("frame.join_two", "{a} and {b}", "{a} und {b}", "{a} et {b}", "{a} y {b}", "{a} en {b}")
)

// framed are the languages of the texts of answers, beside English.
var framed = [...]string{"de", "fr", "es", "nl"}

// translations have the template of a code by language.
var translations = map[string]map[Code]string{"de": {}, "fr": {}, "es": {}, "nl": {}}

// answer defines a text of answers, in English and in the languages of framed.
func answer(code Code, english string, others ...string) Message {
	for i, lang := range framed {
		translations[lang][code] = others[i]
	}
	return define(code, english)
}

// In returns the text with its values in a language (ISO 639-1); in English if there are no words
// for it.
func (m Message) In(lang string, values Params) string {
	template, known := translations[lang][m.Code]
	if !known {
		template, lang = catalog[m.Code], "en"
	}
	return fill(template, lang, values)
}

// counted are the kinds of numbers that stand before a noun, with the noun for one and for
// several in each language of answers.
var counted = map[Kind]map[string][2]string{
	"rows":        {"en": {"row", "rows"}, "de": {"Zeile", "Zeilen"}, "fr": {"ligne", "lignes"}, "es": {"fila", "filas"}, "nl": {"rij", "rijen"}},
	"morerows":    {"en": {"more row", "more rows"}, "de": {"weitere Zeile", "weitere Zeilen"}, "fr": {"ligne de plus", "lignes de plus"}, "es": {"fila más", "filas más"}, "nl": {"rij meer", "rijen meer"}},
	"columns":     {"en": {"column", "columns"}, "de": {"Spalte", "Spalten"}, "fr": {"colonne", "colonnes"}, "es": {"columna", "columnas"}, "nl": {"kolom", "kolommen"}},
	"sentences":   {"en": {"sentence", "sentences"}, "de": {"Satz", "Sätze"}, "fr": {"phrase", "phrases"}, "es": {"frase", "frases"}, "nl": {"zin", "zinnen"}},
	"rules":       {"en": {"rule", "rules"}, "de": {"Regel", "Regeln"}, "fr": {"règle", "règles"}, "es": {"regla", "reglas"}, "nl": {"regel", "regels"}},
	"findings":    {"en": {"finding", "findings"}, "de": {"Feststellung", "Feststellungen"}, "fr": {"constatation", "constatations"}, "es": {"hallazgo", "hallazgos"}, "nl": {"bevinding", "bevindingen"}},
	"further":     {"en": {"further finding", "further findings"}, "de": {"weitere Feststellung", "weitere Feststellungen"}, "fr": {"autre constatation", "autres constatations"}, "es": {"hallazgo más", "hallazgos más"}, "nl": {"andere bevinding", "andere bevindingen"}},
	"differences": {"en": {"difference", "differences"}, "de": {"Unterschied", "Unterschiede"}, "fr": {"différence", "différences"}, "es": {"diferencia", "diferencias"}, "nl": {"verschil", "verschillen"}},
	"agreements":  {"en": {"agreement", "agreements"}, "de": {"Übereinstimmung", "Übereinstimmungen"}, "fr": {"concordance", "concordances"}, "es": {"coincidencia", "coincidencias"}, "nl": {"overeenkomst", "overeenkomsten"}},
	"documents":   {"en": {"document", "documents"}, "de": {"Dokument", "Dokumente"}, "fr": {"document", "documents"}, "es": {"documento", "documentos"}, "nl": {"document", "documenten"}},
	"samples":     {"en": {"sample", "samples"}, "de": {"Beispiel", "Beispiele"}, "fr": {"exemple", "exemples"}, "es": {"ejemplo", "ejemplos"}, "nl": {"voorbeeld", "voorbeelden"}},
	"facts":       {"en": {"fact", "facts"}, "de": {"Fakt", "Fakten"}, "fr": {"fait", "faits"}, "es": {"hecho", "hechos"}, "nl": {"feit", "feiten"}},
	"are":         {"en": {"is {n} document", "are {n} documents"}},
	"aresamples":  {"en": {"is {n} sample", "are {n} samples"}},
}

func count(n int64, nouns [2]string) string {
	noun := nouns[1]
	if n == 1 {
		noun = nouns[0]
	}
	if before, after, found := strings.Cut(noun, "{n}"); found {
		return before + strconv.FormatInt(n, 10) + after
	}
	return strconv.FormatInt(n, 10) + " " + noun
}

// Joined joins names in a language, as in "A, B and C".
func Joined(lang string, list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return JoinTwo.In(lang, Params{"a": strings.Join(list[:last], ", "), "b": list[last]})
}
