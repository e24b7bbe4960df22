import { readBounded } from "../core/bounded_body.ts";
import { Cancellation } from "../core/cancellation.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import type { Outgoing, World } from "../core/world.ts";
import { utf8Text } from "../formats/utf8.ts";
import { endAfter, type Fetched, issuedToken } from "./source.ts";

/** Time limit of a request for a credential, with its whole response. */
const DEADLINE_MS = 10_000;

/** Largest response; that of a token endpoint has a few KiB. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** A request for a credential. */
export interface Question extends Pick<Outgoing, "method" | "headers"> {
  readonly url: string;
  readonly body: string | null;
}

/** The text of a response with status 200, or the reason why there is none, without secrets. */
export type TextAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Sends a request for a credential. Redirects are not followed. Never rejects. */
export async function askText(
  world: Pick<World, "send" | "after">,
  { url, method, headers, body }: Question,
  outer: Cancellation,
): Promise<TextAnswer> {
  const { host } = new URL(url);
  const cancellation = new Cancellation();
  const unsubscribe = outer.onCancel(() => cancellation.cancel(null));
  const cancelDeadline = world.after(DEADLINE_MS, () => cancellation.cancel(null));
  const failed = (reason: string) => ({ ok: false, reason: `${host} ${reason}` }) as const;
  try {
    const response = await world.send(url, {
      method,
      headers: { "user-agent": "switchyard", ...headers },
      body,
      cancellation,
    });
    const read = await readBounded(response, cancellation, MAX_RESPONSE_BYTES);
    const text = read.ok ? utf8Text(read.bytes) : null;
    if (cancellation.isCancelled) return failed("did not respond in time");
    const { status } = response;
    if (status >= 300 && status < 400) return failed("responded with a redirect");
    if (status !== 200) return failed(`responded with status ${status}${errorCode(text, body)}`);
    return text === null
      ? failed("sent a response that is too large or no text")
      : { ok: true, text };
  } catch {
    return failed(cancellation.isCancelled ? "did not respond in time" : "could not be reached");
  } finally {
    unsubscribe();
    cancelDeadline();
  }
}

/** Sends a request for a credential and parses its response as a JSON object. */
export async function askJson(
  world: Pick<World, "send" | "after">,
  question: Question,
  outer: Cancellation,
): Promise<{ readonly ok: true; readonly value: JsonObject } | Extract<TextAnswer, { ok: false }>> {
  const answer = await askText(world, question, outer);
  if (!answer.ok) return answer;
  const value = parseJson(answer.text);
  return isObject(value)
    ? { ok: true, value }
    : { ok: false, reason: `${new URL(question.url).host} sent a response that is no JSON object` };
}

/** Returns the request for a token (RFC 6749, section 4). */
export function tokenQuestion(url: string, form: Readonly<Record<string, string>>): Question {
  const type = "application/x-www-form-urlencoded";
  const headers = { accept: "application/json", "content-type": type };
  return { method: "POST", url, headers, body: new URLSearchParams(form).toString() };
}

/** The request for a token, or the reason why it cannot be made. */
export type Asking =
  | { readonly ok: true; readonly question: Question }
  | Extract<Fetched, { readonly ok: false }>;

/** Requests a token of OAuth 2.0 (RFC 6749, section 5.1). */
export async function askToken(
  world: Pick<World, "send" | "after" | "wall">,
  newQuestion: () => Promise<Asking>,
  cancellation: Cancellation,
): Promise<Fetched> {
  const asked = await newQuestion();
  if (!asked.ok) return asked;
  const answer = await askJson(world, asked.question, cancellation);
  if (!answer.ok) return answer;
  const { access_token, expires_in } = answer.value;
  const wallMs = world.wall();
  return issuedToken(access_token, endAfter(expires_in, wallMs), wallMs);
}

/**
 * Returns the code of an OAuth error (RFC 6749, section 5.2) or of an STS error for a reason. Only
 * a short word is shown that was not sent: the rest of an error may repeat the secret.
 */
function errorCode(text: string | null, sent: string | null): string {
  const value = text === null ? null : parseJson(text);
  const named = isObject(value) ? value.error : /<Code>([^<]*)</.exec(text ?? "")?.[1];
  const isCode = typeof named === "string" && /^[A-Za-z_]{1,40}$/.test(named) &&
    sent?.includes(named) !== true;
  return isCode ? ` (${named})` : "";
}
