package messages

// Texts of answers about discovery boards that rules write.
var (
	BoardHelp = answer("frame.board_help", "Without a language model I know this board by rules. You can say:\n\n"+
		"- “add fact: … from I-1”, “add report: … from R-1”, “add the facts of @document as facts”, “add @document as an input”, “change F-1 to …”, “delete F-2”\n"+
		"- “summarize”, “what is missing?”, “which facts have no source?”, “suggest connections”, “what is stale?”\n"+
		"- an id, as F-1, to see an item and what rests on it",
		"Ohne KI-Modell kenne ich dieses Board nach Regeln. Sie können sagen:\n\n"+
			"- „Fakt hinzufügen: … aus I-1“, „Bericht hinzufügen: … aus R-1“, „Übernimm die Fakten aus @Dokument“, „Füge @Dokument als Quelle hinzu“, „Ändere F-1 in …“, „Lösche F-2“\n"+
			"- „Fasse das Board zusammen“, „Was fehlt?“, „Welche Fakten haben keine Quelle?“, „Was sollte verbunden werden?“, „Was ist veraltet?“\n"+
			"- eine Nummer wie F-1, um einen Eintrag zu sehen und was darauf beruht",
		"Sans modèle de langage, je connais ce tableau par des règles. Vous pouvez dire :\n\n"+
			"- « Ajoute un fait : … de I-1 », « Ajoute un rapport : … de R-1 », « Ajoute les faits de @document », « Ajoute @document comme source », « Change F-1 en … », « Supprime F-2 »\n"+
			"- « Résume le tableau », « Que manque-t-il ? », « Quels faits sont sans source ? », « Que faut-il relier ? », « Qu'est-ce qui est périmé ? »\n"+
			"- un numéro comme F-1, pour voir un élément et ce qui repose sur lui",
		"Sin un modelo de lenguaje conozco este tablero por reglas. Puede decir:\n\n"+
			"- «Añade un hecho: … de I-1», «Añade un informe: … de R-1», «Añade los hechos de @documento», «Añade @documento como fuente», «Cambia F-1 por …», «Elimina F-2»\n"+
			"- «Resume el tablero», «¿Qué falta?», «¿Qué hechos están sin fuente?», «¿Qué se debería relacionar?», «¿Qué está desactualizado?»\n"+
			"- un número como F-1, para ver un elemento y lo que se basa en él",
		"Zonder taalmodel ken ik dit bord volgens regels. U kunt zeggen:\n\n"+
			"- „Voeg een feit toe: … uit I-1”, „Voeg een rapport toe: … uit R-1”, „Voeg de feiten uit @document toe”, „Voeg @document toe als bron”, „Wijzig F-1 in …”, „Verwijder F-2”\n"+
			"- „Vat het bord samen”, „Wat ontbreekt er?”, „Welke feiten zijn zonder bron?”, „Wat moet verbonden worden?”, „Wat is verouderd?”\n"+
			"- een nummer zoals F-1, om een item te zien en wat erop rust")
	BoardNoItem = answer("frame.board_no_item", "There is no {id} on this board. Nothing was proposed.",
		"{id} gibt es auf diesem Board nicht. Es wurde nichts vorgeschlagen.",
		"Il n'y a pas de {id} sur ce tableau. Rien n'a été proposé.",
		"No hay {id} en este tablero. No se ha propuesto nada.",
		"Er is geen {id} op dit bord. Er is niets voorgesteld.")
	BoardWrongBasis = answer("frame.board_wrong_basis", "[{id}] is {a}, but only {many} can be the basis here. Nothing was proposed.",
		"[{id}] ist {a}. Als Grundlage kommen hier nur {many} infrage. Es wurde nichts vorgeschlagen.",
		"[{id}] est {a}. Ici, seuls des {many} peuvent servir de base. Rien n'a été proposé.",
		"[{id}] es {a}. Aquí la base solo puede ser: {many}. No se ha propuesto nada.",
		"[{id}] is {a}. Hier kunnen alleen {many} de basis zijn. Er is niets voorgesteld.")
	BoardAddsInput = answer("frame.board_adds_input", "I propose the document as an input.",
		"Ich schlage das Dokument als Quelle vor.", "Je propose le document comme source.",
		"Propongo el documento como fuente.", "Ik stel het document voor als bron.")
	BoardDeletes = answer("frame.board_deletes", "I propose to delete [{id}].",
		"Ich schlage vor, [{id}] zu löschen.", "Je propose de supprimer [{id}].", "Propongo eliminar [{id}].", "Ik stel voor om [{id}] te verwijderen.")
	BoardEdits = answer("frame.board_edits", "I propose another text for [{id}].",
		"Ich schlage einen anderen Text für [{id}] vor.", "Je propose un autre texte pour [{id}].", "Propongo otro texto para [{id}].", "Ik stel een andere tekst voor [{id}] voor.")
	BoardAdds = answer("frame.board_adds", "I propose {a}.",
		"Mein Vorschlag: {a}.", "Ma proposition : {a}.", "Mi propuesta: {a}.", "Mijn voorstel: {a}.")
	BoardAddsOn = answer("frame.board_adds_on", "I propose {a} that rests on {ids}.",
		"Mein Vorschlag: {a} auf Grundlage von {ids}.", "Ma proposition : {a} sur la base de {ids}.", "Mi propuesta: {a} con base en {ids}.", "Mijn voorstel: {a} op basis van {ids}.")
	BoardAddsFacts = answer("frame.board_adds_facts", "I propose {n:facts}, with the words of the document that say so.",
		"Ich schlage {n:facts} vor, mit den Worten des Dokuments, die das sagen.", "Je propose {n:facts}, avec les mots du document qui le disent.",
		"Propongo {n:facts}, con las palabras del documento que lo dicen.", "Ik stel {n:facts} voor, met de woorden van het document die dat zeggen.")
	BoardNothingNew = answer("frame.board_nothing_new", "I see no whole sentence in {where} that is not on the board yet.",
		"Ich sehe in {where} keinen ganzen Satz, der noch nicht auf dem Board steht.", "Je ne vois dans {where} aucune phrase entière qui ne soit pas déjà sur le tableau.",
		"No veo en {where} ninguna frase entera que no esté ya en el tablero.", "Ik zie in {where} geen hele zin die nog niet op het bord staat.")
	BoardTheDocument = answer("frame.board_the_document", "the document", "dem Dokument", "le document", "el documento", "het document")
	BoardConfirm     = answer("frame.board_confirm", "The board changes when you confirm.",
		"Das Board ändert sich, wenn Sie bestätigen.", "Le tableau change quand vous confirmez.", "El tablero cambia cuando usted confirma.", "Het bord verandert als u bevestigt.")
	BoardNotProposed = answer("frame.board_not_proposed", "A change could not be proposed.",
		"Eine Änderung konnte nicht vorgeschlagen werden.", "Une modification n'a pas pu être proposée.", "No se pudo proponer un cambio.", "Een wijziging kon niet worden voorgesteld.")
	BoardMore = answer("frame.board_more", "and {n:number} more",
		"und {n:number} weitere", "et {n:number} de plus", "y {n:number} más", "en nog {n:number}")
	BoardNothingStale = answer("frame.board_nothing_stale", "Nothing on this board is stale.",
		"Auf diesem Board ist nichts veraltet.", "Rien n'est périmé sur ce tableau.", "En este tablero no hay nada desactualizado.", "Op dit bord is niets verouderd.")
	BoardStale = answer("frame.board_stale", "What these items rest on has changed since:",
		"Worauf diese Einträge beruhen, hat sich seither geändert:", "Ce sur quoi ces éléments reposent a changé depuis :",
		"Aquello en que se basan estos elementos ha cambiado desde entonces:", "Waar deze items op rusten, is sindsdien veranderd:")
	BoardAllRest = answer("frame.board_all_rest", "There are no {many} without a basis.",
		"Es gibt keine {many} ohne Grundlage.", "Il n'y a pas de {many} sans base.", "No hay {many} sin base.", "Er zijn geen {many} zonder basis.")
	BoardRestOnNothing = answer("frame.board_rest_on_nothing", "These {many} rest on nothing:",
		"Diese {many} beruhen auf nichts:", "Ces {many} ne reposent sur rien :", "Sin base ({many}):", "Deze {many} rusten op niets:")
	BoardUnused = answer("frame.board_unused", "Nothing rests on these items yet:",
		"Auf diesen Einträgen beruht noch nichts:", "Rien ne repose encore sur ces éléments :", "Nada se basa todavía en estos elementos:", "Op deze items rust nog niets:")
	BoardNoGoal = answer("frame.board_no_goal", "The board has no goal.",
		"Das Board hat kein Ziel.", "Le tableau n'a pas d'objectif.", "El tablero no tiene objetivo.", "Het bord heeft geen doel.")
	BoardNoneYet = answer("frame.board_none_yet", "There are no {many} yet.",
		"Es gibt noch keine {many}.", "Il n'y a pas encore de {many}.", "Todavía no hay {many}.", "Er zijn nog geen {many}.")
	BoardNoGap = answer("frame.board_no_gap", "I see no gap by rule: every column has items, all are connected, and none is stale.",
		"Nach Regeln sehe ich keine Lücke: Jede Spalte hat Einträge, alle sind verbunden, und keiner ist veraltet.",
		"Selon les règles, je ne vois aucune lacune : chaque colonne a des éléments, tous sont reliés et aucun n'est périmé.",
		"Según las reglas no veo ninguna laguna: cada columna tiene elementos, todos están relacionados y ninguno está desactualizado.",
		"Volgens de regels zie ik geen leemte: elke kolom heeft items, alle zijn verbonden en geen is verouderd.")
	BoardGoal = answer("frame.board_goal", "Goal: {goal}", "Ziel: {goal}", "Objectif : {goal}", "Objetivo: {goal}", "Doel: {goal}")
	BoardHas  = answer("frame.board_has", "The board has {counts}.",
		"Auf dem Board: {counts}.", "Sur le tableau : {counts}.", "En el tablero: {counts}.", "Op het bord: {counts}.")
	BoardIts = answer("frame.board_its", "Its {many}:", "Seine {many}:", "Ses {many} :", "Sus {many}:", "De {many}:")

	BoardCites = answer("frame.board_cites", "[{id}] could rest on [{on}]: it cites that document.",
		"[{id}] könnte auf [{on}] beruhen: Der Eintrag zitiert dieses Dokument.", "[{id}] pourrait reposer sur [{on}] : il cite ce document.",
		"[{id}] podría basarse en [{on}]: cita ese documento.", "[{id}] zou op [{on}] kunnen rusten: het citeert dat document.")
	BoardShares = answer("frame.board_shares", "[{id}] could rest on [{on}]: they have {n:number} words in common.",
		"[{id}] könnte auf [{on}] beruhen: Beide haben {n:number} Wörter gemeinsam.", "[{id}] pourrait reposer sur [{on}] : ils ont {n:number} mots en commun.",
		"[{id}] podría basarse en [{on}]: tienen {n:number} palabras en común.", "[{id}] zou op [{on}] kunnen rusten: ze hebben {n:number} woorden gemeen.")
	BoardNoConnection = answer("frame.board_no_connection", "I see no missing connection by rule: what rests on nothing has too few words in common with the column before.",
		"Nach Regeln sehe ich keine fehlende Verbindung: Was auf nichts beruht, hat zu wenige Wörter mit der Spalte davor gemeinsam.",
		"Selon les règles, je ne vois aucun lien manquant : ce qui ne repose sur rien a trop peu de mots en commun avec la colonne précédente.",
		"Según las reglas no veo ninguna relación que falte: lo que no tiene base comparte muy pocas palabras con la columna anterior.",
		"Volgens de regels zie ik geen ontbrekende verbinding: wat op niets rust, heeft te weinig woorden gemeen met de kolom ervoor.")
	BoardConnections = answer("frame.board_connections", "Connections that may be missing:",
		"Verbindungen, die vielleicht fehlen:", "Liens qui manquent peut-être :", "Relaciones que quizá falten:", "Verbindingen die misschien ontbreken:")
	BoardRestsOn = answer("frame.board_rests_on", "It rests on {ids}.",
		"Grundlage: {ids}.", "Base : {ids}.", "Base: {ids}.", "Basis: {ids}.")
	BoardBelow = answer("frame.board_below", "What rests on it: {ids}.",
		"Darauf beruht: {ids}.", "Repose dessus : {ids}.", "Se basa en esto: {ids}.", "Hierop rust: {ids}.")
	BoardIsStale = answer("frame.board_is_stale", "It is stale: what it rests on has changed.",
		"Der Eintrag ist veraltet: Seine Grundlage hat sich geändert.", "Cet élément est périmé : sa base a changé.",
		"Está desactualizado: su base ha cambiado.", "Het is verouderd: de basis is veranderd.")
)
