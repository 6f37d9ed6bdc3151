import { expect, it } from "vitest";
import { defaultConfig, readConfig } from "./config";

const poet = { name: "poet", label: "Poet", description: "Answers in verse" };
const manuals = { type: "manuals", label: "Shop manuals", links: ["manuals.example.com/"] };
const rtf = { label: "RTF", extensions: [".rtf"] };

it("reads the server's configuration", () =>
  expect(readConfig({ model: { label: "m-1", offline: false }, limits: { upload_bytes: 1024, message_chars: 10 }, features: { web_search: true }, agents: [poet], document_types: [rtf], import_sources: [manuals] })).toEqual({
    modelLabel: "m-1",
    offline: false,
    webSearch: true,
    followUps: false,
    sharedLinks: false,
    maxUpload: 1024,
    maxMessage: 10,
    agents: [poet],
    documentTypes: [rtf],
    importSources: [manuals],
    accountRequired: false,
  }));

it("reads how people sign in", () => {
  const sign_in = { url: "https://p.example", key: "public", methods: ["link"], providers: ["google"] };
  expect(readConfig({ auth: { mode: "required", tokens: true, sign_in } })).toEqual({ ...defaultConfig, accountRequired: true, signIn: { url: "https://p.example", key: "public", link: true, password: false, providers: ["google"] } });
  expect(readConfig({ auth: { mode: "required", tokens: true, sign_in: { url: 3 } } })).toEqual({ ...defaultConfig, accountRequired: true });
});

it.each([null, "x", {}, { model: 3, limits: { upload_bytes: -1 }, agents: "x", document_types: {} }])("uses the defaults for %j", (raw) => expect(readConfig(raw)).toEqual(defaultConfig));
