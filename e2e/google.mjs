// A fake of Google's sign-in and Drive: the pages that browsers are redirected to, and the
// API calls that the server makes.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const CLIENT = "e2e-client";
const SECRET = "e2e-client-secret";
const KEY = "e2e-drive-key";

/** Starts the fake. files maps ids to {name, mime, text, size, modified, private, rateLimited, cut, held}; held is a promise that delays the download. */
export async function startGoogle() {
  const google = { files: new Map(), account: "ann@example.com", asked: [] };
  const codes = new Map();
  const tokens = new Map(); // account by refresh or access token
  const url = () => `http://127.0.0.1:${server.address().port}`;

  const consent = (q) => {
    const back = (answer) => `${q.get("redirect_uri")}?${new URLSearchParams({ state: q.get("state"), ...answer })}`.replaceAll("&", "&amp;");
    const code = randomUUID();
    codes.set(code, q.get("code_challenge"));
    return `<!doctype html><html lang="en"><title>Google</title><h1>Palaver wants to see your Drive files</h1><a href="${back({ code })}">Allow</a> <a href="${back({ error: "access_denied" })}">Cancel</a>`;
  };

  const token = (form) => {
    const known = form.get("client_id") === CLIENT && form.get("client_secret") === SECRET;
    if (!known) return [400, { error: "invalid_client" }];
    const access = `access-${randomUUID()}`;
    if (form.get("grant_type") === "refresh_token") {
      const account = tokens.get(form.get("refresh_token"));
      if (!account) return [400, { error: "invalid_grant" }];
      tokens.set(access, account);
      return [200, { access_token: access, token_type: "Bearer", expires_in: 3600 }];
    }
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (codes.get(form.get("code")) !== challenge) return [400, { error: "invalid_grant" }];
    codes.delete(form.get("code"));
    const refresh = `refresh-${randomUUID()}`;
    tokens.set(access, google.account).set(refresh, google.account);
    return [200, { access_token: access, refresh_token: refresh, token_type: "Bearer", expires_in: 3600, scope: "https://www.googleapis.com/auth/drive.readonly" }];
  };

  const refused = (status, reason) => [status, { error: { code: status, message: reason, errors: [{ reason }] } }];

  const file = (req, id, query) => {
    const f = google.files.get(id);
    const account = tokens.get((req.headers.authorization ?? "").replace("Bearer ", ""));
    if (req.headers["x-goog-api-key"] !== KEY && !account) return refused(400, "badRequest");
    if (!f || (f.private && !account)) return refused(404, "notFound");
    if (f.rateLimited) return refused(403, "userRateLimitExceeded");
    if (query.get("alt") === "media" || query.has("mimeType")) return f.cut ? null : [200, f.text, query.get("mimeType") ?? f.mime];
    const md5Checksum = f.mime.startsWith("application/vnd.google-apps.") ? undefined : createHash("md5").update(f.text).digest("hex");
    return [200, { id, name: f.name, mimeType: f.mime, size: String(f.size ?? Buffer.byteLength(f.text)), md5Checksum, modifiedTime: f.modified ?? "2026-01-02T03:04:05Z", capabilities: { canDownload: true } }];
  };

  const answer = async (req) => {
    const at = new URL(req.url, url());
    google.asked.push(`${req.method} ${at.pathname}`);
    if (at.pathname === "/o/oauth2/v2/auth") return [200, consent(at.searchParams), "text/html"];
    if (req.method === "POST") {
      const body = [];
      for await (const part of req) body.push(part);
      const form = new URLSearchParams(Buffer.concat(body).toString());
      if (at.pathname === "/token") return token(form);
      tokens.clear(); // a revocation; the fake has one account
      return [200, {}];
    }
    if (at.pathname === "/drive/v3/about") return [200, { user: { emailAddress: google.account } }];
    const [, id] = /^\/drive\/v3\/files\/([^/]+)/.exec(at.pathname) ?? [];
    if (!id) return at.pathname === "/favicon.ico" ? [200, "", "image/png"] : [404, {}];
    const media = at.searchParams.get("alt") === "media" || at.pathname.endsWith("/export");
    if (media && google.files.get(id)?.held) await google.files.get(id).held;
    return file(req, id, at.searchParams);
  };

  const server = createServer((req, res) => {
    void answer(req).then((said) => {
      if (!said) return res.destroy(); // the connection breaks
      const [status, body, type = "application/json"] = said;
      res.writeHead(status, { "Content-Type": type });
      res.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  google.settings = {
    GOOGLE_CLIENT_ID: CLIENT,
    GOOGLE_CLIENT_SECRET: SECRET,
    GOOGLE_API_KEY: KEY,
    GOOGLE_OAUTH_BASE_URL: url(),
    GOOGLE_DRIVE_BASE_URL: `${url()}/drive/v3/`,
  };
  google.url = url();
  google.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return google;
}

export const DOC = "1AbCdEfGhIjKlMnOpQrStUvWx";
export const linkTo = (id) => `https://drive.google.com/file/d/${id}/view?usp=sharing`;
