package main

import (
	"cmp"
	"slices"
)

// publishedTables are the tables of others, with four questions each. The questions were written
// before anything answered them.
var publishedTables = []publishedTable{
	{"Debian releases", "debian", "debian.csv", []asked{
		{"How many Debian versions were released before 2005?", "SELECT count(*) FROM t1 WHERE release < '2005'", countOf(before("release", "2005"))},
		{"Which version of Debian was released in 2019?", "SELECT codename FROM t1 WHERE release LIKE '2019%'", list("codename", has("release", "2019"))},
		{"What is the latest eol?", "SELECT max(eol) FROM t1", func(all records) []string { return lastOf(all, "eol") }},
		{"Which versions of Debian have no release date?", "SELECT codename FROM t1 WHERE release IS NULL", list("codename", is("release", ""))},
	}},
	{"Ubuntu releases", "debian", "ubuntu.csv", []asked{
		{"How many Ubuntu versions are there?", "SELECT count(*) FROM t1", countOf()},
		{"Which Ubuntu versions were released in 2010?", "SELECT codename FROM t1 WHERE release LIKE '2010%'", list("codename", has("release", "2010"))},
		{"How many Ubuntu versions are LTS?", "SELECT count(*) FROM t1 WHERE version_text LIKE '%LTS'", countOf(has("version", "LTS"))},
		{"Which Ubuntu version was released first?", "SELECT codename FROM t1 ORDER BY release LIMIT 1", func(all records) []string { return []string{all[0]["codename"]} }},
	}},
	{"Penguins", "seaborn", "penguins.csv", []asked{
		{"How many penguins are on the island Dream?", "SELECT count(*) FROM t1 WHERE island = 'Dream'", countOf(is("island", "Dream"))},
		{"How many different species are there?", "SELECT count(DISTINCT species) FROM t1", different("species")},
		{"What is the average body mass of the Gentoo penguins?", "SELECT avg(body_mass_g) FROM t1 WHERE species = 'Gentoo'", average("body_mass_g", is("species", "Gentoo"))},
		{"What is the longest bill length?", "SELECT max(bill_length_mm) FROM t1", highest("bill_length_mm")},
	}},
	{"Tips", "seaborn", "tips.csv", []asked{
		{"What is the total of the tips on Sunday?", "SELECT sum(tip) FROM t1 WHERE day = 'Sun'", total("tip", is("day", "Sun"))},
		{"How many bills are over 40?", "SELECT count(*) FROM t1 WHERE total_bill > 40", countOf(above("total_bill", 40))},
		{"What is the highest tip?", "SELECT max(tip) FROM t1", highest("tip")},
		{"How many smokers had dinner on Saturday?", "SELECT count(*) FROM t1 WHERE smoker = 'Yes' AND time = 'Dinner' AND day = 'Sat'", countOf(is("smoker", "Yes"), is("time", "Dinner"), is("day", "Sat"))},
	}},
	{"Cars", "seaborn", "mpg.csv", []asked{
		{"How many cars come from Japan?", "SELECT count(*) FROM t1 WHERE origin = 'japan'", countOf(is("origin", "japan"))},
		{"What is the average weight of cars from Europe?", "SELECT avg(weight) FROM t1 WHERE origin = 'europe'", average("weight", is("origin", "europe"))},
		{"Which car has the highest horsepower?", "SELECT name FROM t1 ORDER BY horsepower DESC LIMIT 1", first("name", "horsepower", 1)},
		{"How many cars have more than 6 cylinders?", "SELECT count(*) FROM t1 WHERE cylinders > 6", countOf(above("cylinders", 6))},
	}},
	{"Planets", "seaborn", "planets.csv", []asked{
		{"How many planets were found by transit?", "SELECT count(*) FROM t1 WHERE method = 'Transit'", countOf(is("method", "Transit"))},
		{"How many planets were found in 2011?", "SELECT count(*) FROM t1 WHERE year = 2011", countOf(is("year", "2011"))},
		{"What is the longest orbital period?", "SELECT max(orbital_period) FROM t1", highest("orbital_period")},
		{"How many planets have a mass of more than 20?", "SELECT count(*) FROM t1 WHERE mass > 20", countOf(above("mass", 20))},
	}},
	{"Health", "seaborn", "healthexp.csv", []asked{
		{"What was the life expectancy in Japan in 2015?", "SELECT life_expectancy FROM t1 WHERE country = 'Japan' AND year = 2015", total("Life_Expectancy", is("Country", "Japan"), is("Year", "2015"))},
		{"What is the lowest life expectancy of the USA?", "SELECT min(life_expectancy) FROM t1 WHERE country = 'USA'", lowest("Life_Expectancy", is("Country", "USA"))},
		{"How many rows are about Canada?", "SELECT count(*) FROM t1 WHERE country = 'Canada'", countOf(is("Country", "Canada"))},
		{"Which country had the highest spending?", "SELECT country FROM t1 ORDER BY spending_usd DESC LIMIT 1", first("Country", "Spending_USD", 1)},
	}},
	{"Films", "corpus", "scripts/opensearch-test-helpers/wiki_movie_plots_small.csv", []asked{
		{"How many films have the genre comedy?", "SELECT count(*) FROM t1 WHERE genre = 'comedy'", countOf(is("Genre", "comedy"))},
		{"Which films came out in 1906?", "SELECT title FROM t1 WHERE release_year = 1906", list("Title", is("Release Year", "1906"))},
		{"How many films were released after 1905?", "SELECT count(*) FROM t1 WHERE release_year > 1905", countOf(above("Release Year", 1905))},
		{"What is the earliest release year?", "SELECT min(release_year) FROM t1", lowest("Release Year")},
	}},
	{"Geographic information", "tatqa", "687d09ee-4aa8-402a-ae27-96ce063115a5", []asked{
		{"What was the figure for Japan in 2019?", "SELECT c_2019 FROM t1 WHERE for_the_year_ended = 'Japan'", total("2019", is("name", "Japan"))},
		{"Which region had the highest value in 2018?", "SELECT for_the_year_ended FROM t1 WHERE for_the_year_ended <> '' ORDER BY c_2018 DESC LIMIT 1", first("name", "2018", 1, isNot("name", ""))},
		{"In which year was the value of Hong Kong the lowest?", "SELECT CASE min(c_2019, c_2018, c_2017) WHEN c_2019 THEN 2019 WHEN c_2018 THEN 2018 ELSE 2017 END FROM t1 WHERE for_the_year_ended = 'Hong Kong'", lowestYear("Hong Kong")},
		{"What is the total of Japan and Taiwan in 2019?", "SELECT sum(c_2019) FROM t1 WHERE for_the_year_ended IN ('Japan', 'Taiwan')", total("2019", either("name", "Japan", "Taiwan"))},
	}},
	{"Segment assets", "tatqa", "329e3ff5-0cff-4849-8fd0-9b1e5606f6ca", []asked{
		{"What were the assets of Industrial Solutions in 2018?", "SELECT segment_assets_fiscal_year_end_2018_in_millions FROM t1 WHERE column_1 = 'Industrial Solutions'", total("2018", is("name", "Industrial Solutions"))},
		{"What was the change in total assets from 2018 to 2019?", "SELECT segment_assets_fiscal_year_end_2019_in_millions - segment_assets_fiscal_year_end_2018_in_millions FROM t1 WHERE column_1 = 'Total assets'", difference("Total assets", "2019", "2018")},
		{"Which segment had the highest assets in 2019?", "SELECT column_1 FROM t1 WHERE column_1 LIKE '%Solutions' ORDER BY segment_assets_fiscal_year_end_2019_in_millions DESC LIMIT 1", first("name", "2019", 1, has("name", "Solutions"))},
		{"By how much did Communications Solutions change from 2017 to 2018?", "SELECT segment_assets_fiscal_year_end_2018_in_millions - segment_assets_fiscal_year_end_2017_in_millions FROM t1 WHERE column_1 = 'Communications Solutions'", difference("Communications Solutions", "2018", "2017")},
	}},
}

// reworded are questions in other words and other languages, which were written before anything answered
// them. A right answer needs what the file says; an answer that is not it is worse than none.
var reworded = []publishedTable{
	{"Debian releases", "debian", "debian.csv", []asked{
		{question: "when did buster come out?", right: list("release", is("series", "buster"))},
		{question: "Wann ist Bookworm erschienen?", right: list("release", is("series", "bookworm"))},
		{question: "what's the newest eol date", right: func(all records) []string { return lastOf(all, "eol") }},
		{question: "¿Cuántas versiones de Debian hay?", right: countOf()},
	}},
	{"Penguins", "seaborn", "penguins.csv", []asked{
		{question: "how heavy are gentoo penguins on average?", right: average("body_mass_g", is("species", "Gentoo"))},
		{question: "number of penguins living on Biscoe", right: countOf(is("island", "Biscoe"))},
		{question: "Wie viele Pinguine sind auf Torgersen?", right: countOf(is("island", "Torgersen"))},
		{question: "Combien de manchots sont de l'espèce Chinstrap ?", right: countOf(is("species", "Chinstrap"))},
		{question: "what is the shortest flipper length?", right: lowest("flipper_length_mm")},
		{question: "how many female Adelie penguins are there?", right: countOf(is("species", "Adelie"), is("sex", "FEMALE"))},
	}},
	{"Tips", "seaborn", "tips.csv", []asked{
		{question: "how much tip was given on Saturdays altogether?", right: total("tip", is("day", "Sat"))},
		{question: "biggest total bill?", right: highest("total_bill")},
		{question: "Wie hoch ist das durchschnittliche Trinkgeld (tip)?", right: average("tip")},
		{question: "how many lunches were there?", right: countOf(is("time", "Lunch"))},
		{question: "¿Cuál es la propina (tip) más baja?", right: lowest("tip")},
		{question: "how many non-smokers came on Friday?", right: countOf(is("smoker", "No"), is("day", "Fri"))},
	}},
	{"Cars", "seaborn", "mpg.csv", []asked{
		{question: "which car is the heaviest?", right: first("name", "weight", 1)},
		{question: "how many cars were made in the USA?", right: countOf(is("origin", "usa"))},
		{question: "how many have exactly 4 cylinders?", right: countOf(is("cylinders", "4"))},
		{question: "Wie viele Autos haben weniger als 60 horsepower?", right: countOf(func(r map[string]string) bool { v, ok := number(r["horsepower"]); return ok && v < 60 })},
		{question: "Quelle voiture a le plus grand mpg ?", right: first("name", "mpg", 1)},
		{question: "what's the mean mpg for Japanese cars?", right: average("mpg", is("origin", "japan"))},
	}},
	{"Planets", "seaborn", "planets.csv", []asked{
		{question: "how many planets did people discover in 2009?", right: countOf(is("year", "2009"))},
		{question: "how many used the Radial Velocity method?", right: countOf(is("method", "Radial Velocity"))},
		{question: "how far away is the most distant planet?", right: highest("distance")},
		{question: "Combien de planètes ont été trouvées par Imaging ?", right: countOf(is("method", "Imaging"))},
		{question: "how many planets are there that are closer than a distance of 5?", right: countOf(func(r map[string]string) bool { v, ok := number(r["distance"]); return ok && v < 5 })},
		{question: "Wie viele verschiedene Methoden (method) gibt es?", right: different("method")},
	}},
	{"Health", "seaborn", "healthexp.csv", []asked{
		{question: "life expectancy of Germany in 2000?", right: total("Life_Expectancy", is("Country", "Germany"), is("Year", "2000"))},
		{question: "How much did the USA spend in 2020?", right: total("Spending_USD", is("Country", "USA"), is("Year", "2020"))},
		{question: "¿Qué país tiene la mayor Life_Expectancy?", right: first("Country", "Life_Expectancy", 1)},
		{question: "how many countries are in the table?", right: different("Country")},
		{question: "Quelle était la dépense (spending) de la France (France) en 2010 ?", right: total("Spending_USD", is("Country", "France"), is("Year", "2010"))},
		{question: "what did Japan spend on average?", right: average("Spending_USD", is("Country", "Japan"))},
	}},
	{"Crashes", "seaborn", "car_crashes.csv", []asked{
		{question: "which state (abbrev) has the most alcohol crashes?", right: first("abbrev", "alcohol", 1)},
		{question: "lowest insurance losses?", right: lowest("ins_losses")},
		{question: "average speeding value?", right: average("speeding")},
		{question: "how many states have a total over 20?", right: countOf(above("total", 20))},
		{question: "What is the insurance premium in TX?", right: total("ins_premium", is("abbrev", "TX"))},
		{question: "In welchem Staat (abbrev) ist total am kleinsten?", right: first("abbrev", "total", -1)},
	}},
}

// lastOf returns the last of dates, which sort as texts.
func lastOf(all records, column string) []string {
	last := ""
	for _, r := range all {
		last = max(last, r[column])
	}
	return []string{last}
}

func lowestYear(name string) func(records) []string {
	return func(all records) []string {
		r := all.where([]keep{is("name", name)})
		return []string{slices.MinFunc([]string{"2019", "2018", "2017"}, func(a, b string) int {
			return cmp.Compare(r.numbers(a)[0], r.numbers(b)[0])
		})}
	}
}

func either(column string, values ...string) keep {
	return func(r map[string]string) bool { return slices.Contains(values, r[column]) }
}
