import { expect, it } from "vitest";
import { mostAlike } from "./alike";

it.each([
  ["two versions of one text", ["Email", "Work Policy 2025", "Contract", "Work policy 2024"], ["Work Policy 2025", "Work policy 2024"]],
  ["the earlier pair on a tie", ["a plan", "b plan", "c plan"], ["a plan", "b plan"]],
  ["nothing in common", ["Email", "Contract"], null],
  ["only words that every name has", ["The Lease of 2024", "Rules of the house 2024"], null],
  ["only such words in German", ["Bericht für den Vorstand", "Angebot für den Kunden"], null],
  ["only such words in Spanish", ["Contrato de la casa", "Receta de la abuela"], null],
  ["one word of several", ["Sick leave policy", "Travel policy"], null],
  ["only words for a file", ["Document 1", "Document 2", "Dokument (3)", "Dokument (4)"], null],
  ["such a word and \"about\"", ["Document about tax", "Document about bees"], null],
  ["a year", ["Menu 2024", "Invoice 2024"], null],
  ["names in Chinese", ["发票", "员工手册2024", "员工手册2025"], ["员工手册2024", "员工手册2025"]],
  ["names in Hindi", ["अवकाश नीति 2024", "यात्रा", "अवकाश नीति 2025"], ["अवकाश नीति 2024", "अवकाश नीति 2025"]],
  ["one alone", ["Email"], null],
  ["none", [], null],
])("%s", (_, names, want) => expect(mostAlike(names, (n) => n)).toEqual(want));
