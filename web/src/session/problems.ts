import { words } from "../words";

/** What is wrong with a sign-in, and at which field. */
export interface SignInProblem {
  field?: "email" | "password" | "code";
  text: string;
}

/** The fields of an auth-js error that the page reads. */
export interface AuthProblem {
  code?: string | undefined;
  status?: number | undefined;
  name?: string;
}

const FIELDS: Readonly<Record<string, SignInProblem["field"]>> = {
  invalid_credentials: "password",
  weak_password: "password",
  email_address_invalid: "email",
  email_address_not_authorized: "email",
  user_already_exists: "email",
  email_exists: "email",
  email_not_confirmed: "email",
  user_banned: "email",
  otp_expired: "code",
};

/** Translates an auth-js error into the page's text. */
export function problemOf(err: AuthProblem): SignInProblem {
  const known: Readonly<Record<string, string>> = words.signIn.problems;
  const code = codeOf(err);
  const field = FIELDS[code];
  return { text: known[code] ?? words.signIn.problems.unknown, ...(field && { field }) };
}

const SAME: Readonly<Record<string, string>> = {
  over_email_send_rate_limit: "rate_limited",
  over_request_rate_limit: "rate_limited",
  email_exists: "user_already_exists",
  email_address_not_authorized: "email_address_invalid",
  otp_disabled: "signup_disabled",
  oauth_provider_not_supported: "provider_disabled",
  flow_state_expired: "link_expired",
  flow_state_not_found: "link_expired",
  bad_code_verifier: "other_browser",
  access_denied: "refused",
};

function codeOf({ code = "", status, name }: AuthProblem): string {
  if (name === "AuthRetryableFetchError" || status === 0) return "unreachable";
  if (status === 429) return "rate_limited";
  if (name === "AuthPKCEGrantCodeExchangeError" || name === "AuthPKCECodeVerifierMissingError") return "other_browser";
  return SAME[code] ?? code;
}

/** Why Supabase sent the browser back without a session. */
export function problemOfReturn(params: URLSearchParams): string {
  const code = params.get("error_code") ?? params.get("error") ?? "";
  if (code === "otp_expired") return words.signIn.problems.link_expired;
  if (code === "") return words.signIn.problems.other_browser; // a code or a token that another browser requested
  return problemOf({ code }).text;
}
