import { expect, it } from "vitest";
import { words } from "../words";
import { problemOf, problemOfReturn } from "./problems";

const { problems } = words.signIn;

it.each([
  [{ code: "invalid_credentials", status: 400 }, { field: "password", text: problems.invalid_credentials }],
  [{ code: "over_email_send_rate_limit", status: 429 }, { text: problems.rate_limited }],
  [{ status: 429 }, { text: problems.rate_limited }],
  [{ name: "AuthRetryableFetchError", status: 0 }, { text: problems.unreachable }],
  [{ name: "AuthRetryableFetchError", status: 503 }, { text: problems.unreachable }],
  [{ code: "otp_expired", status: 403 }, { field: "code", text: problems.otp_expired }],
  [{ code: "email_exists", status: 422 }, { field: "email", text: problems.user_already_exists }],
  [{ code: "something_new", status: 500 }, { text: problems.unknown }],
  [{ code: "constructor" }, { text: problems.unknown }],
])("%j has its text", (err, said) => expect(problemOf(err)).toEqual(said));

it.each([
  ["error=access_denied&error_code=otp_expired", problems.link_expired],
  ["error=access_denied", problems.refused],
  ["error=server_error&error_code=unexpected_failure", problems.unknown],
  ["code=of-another-browser", problems.other_browser],
  ["access_token=x", problems.other_browser],
])("a redirect with %s has its reason", (said, text) => expect(problemOfReturn(new URLSearchParams(said))).toBe(text));
