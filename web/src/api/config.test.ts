import { expect, it } from "vitest";
import { defaultConfig, readConfig, seesPictures } from "./config";

const poet = { name: "poet", label: "Poet", description: "Answers in verse" };
const manuals = { type: "manuals", label: "Shop manuals", links: ["manuals.example.com/"] };
const large = { name: "large", default: true, vision: true };
const rtf = { label: "RTF", extensions: [".rtf"] };

it("reads the server's configuration", () =>
  expect(readConfig({ model: { label: "m-1", offline: false, vision: false }, limits: { upload_bytes: 1024, message_chars: 10 }, features: { web_search: true, chat_attachments: true, google_drive: false }, agents: [poet], models: [large], document_types: [rtf], import_sources: [manuals] })).toEqual({
    modelLabel: "m-1",
    offline: false,
    webSearch: true,
    followUps: false,
    sharedLinks: false,
    googleDrive: false,
    vision: false,
    chatAttachments: true,
    maxUpload: 1024,
    maxMessage: 10,
    models: [large],
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

it("reads the OpenID Connect provider, also without Supabase", () => {
  const oidc = { issuer: "https://login.example", client_id: "page", scopes: "openid", name_claim: "name", email_claim: "email", authorization_endpoint: "https://login.example/auth", token_endpoint: "https://login.example/token" };
  expect(readConfig({ auth: { mode: "required", tokens: true, oidc } }).signIn).toEqual({
    url: "",
    key: "",
    link: false,
    password: false,
    providers: [],
    oidc: { issuer: "https://login.example", clientId: "page", scopes: "openid", audience: "", nameClaim: "name", emailClaim: "email", authorizationEndpoint: "https://login.example/auth", tokenEndpoint: "https://login.example/token", endSessionEndpoint: "" },
  });
  expect(readConfig({ auth: { oidc: { issuer: "nothing", client_id: "page" } } })).toEqual(defaultConfig);
});

it.each([null, "x", {}, { model: 3, limits: { upload_bytes: -1 }, agents: "x", document_types: {} }])("uses the defaults for %j", (raw) => expect(readConfig(raw)).toEqual(defaultConfig));

it("knows whether the chosen model sees pictures", () => {
  const config = readConfig({ model: { vision: true }, models: [large, { name: "small", default: false, vision: false }] });
  expect(["large", "small", "withdrawn", undefined].map((model) => seesPictures(config, model))).toEqual([true, false, true, true]);
});
