import { type JsonObject, parseJson } from "../../src/core/json/json.ts";
import type { Answer } from "./answers/answer.ts";
import { at } from "./answers/json_at.ts";
import { type Format, readAnswer } from "./answers/read.ts";
import { KEYS } from "./config.ts";
import { markOf, type RecordingUpstream, type SimulatorResponse } from "./upstream.ts";

/** A client of the soak during one use of the gateway. */
export interface SoakClient {
  /** A text that no other use has; the simulator's answers to it are recorded. */
  readonly mark: string;
  readonly number: number;
  /** A number that differs between the uses of a round, and between the rounds of a use. */
  readonly turn: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends a request; `body` is sent as JSON unless it is a form. */
  send(
    method: string,
    path: string,
    body?: JsonObject | FormData,
    signal?: AbortSignal,
  ): Promise<Response>;
  /** Sends a request and reads its whole response; any status but 200, or 204 of a
   * deletion, is an altered answer. */
  ok(method: string, path: string, body?: JsonObject | FormData): Promise<Received>;
  /** Returns what the simulator said since the last look, in order. */
  simulated(): readonly SimulatorResponse[];
}

/** A response that the client has read to its end. */
export interface Received {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The body as JSON; null if it is none. */
  readonly json: JsonObject;
}

/** An answer that is not the one of the simulator, or not the one that the API promises. */
export class AlteredAnswer extends Error {
  override name = "AlteredAnswer";
}

/** Throws unless the condition holds. */
export function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new AlteredAnswer(what);
}

/** Time in milliseconds within which every answer of the soak ends. */
const ANSWER_TIMEOUT_MS = 120_000;

/** Returns the client of one use; `http` holds its connections. */
export function newSoakClient(
  { number, turn }: { readonly number: number; readonly turn: number },
  url: string,
  http: Deno.HttpClient,
  upstream: RecordingUpstream,
): SoakClient {
  const mark = markOf(number);
  const headers = { authorization: `Bearer ${KEYS[number % KEYS.length]}` };
  const send: SoakClient["send"] = (method, path, body, signal) =>
    fetch(`${url}${path}`, {
      method,
      client: http,
      headers: {
        ...headers,
        ...(body === undefined || body instanceof FormData
          ? {}
          : { "content-type": "application/json" }),
      },
      ...(body === undefined
        ? {}
        : { body: body instanceof FormData ? body : JSON.stringify(body) }),
      signal: AbortSignal.any([
        AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        ...(signal === undefined ? [] : [signal]),
      ]),
    });
  return {
    mark,
    number,
    turn,
    url,
    headers,
    send,
    async ok(method, path, body) {
      const received = await receive(await send(method, path, body));
      demand(
        received.status === 200 || method === "DELETE" && received.status === 204,
        `${method} ${path}: status ${received.status}: ${received.text.slice(0, 300)}`,
      );
      return received;
    },
    simulated: () => upstream.take(mark),
  };
}

/** Reads a response to its end. */
export async function receive(response: Response): Promise<Received> {
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const json = parseJson(text);
  return { status: response.status, type, text, json: isRecord(json) ? json : {} };
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the format of what the simulator said at this path. */
export function upstreamFormat(path: string): Format {
  if (path.startsWith("/messages/")) return "messages";
  if (path.startsWith("/local/")) return "local";
  return path.endsWith("/responses") ? "responses" : "chat";
}

/** Throws unless the client received exactly what the simulator said last, complete and marked. */
export function checkAnswer(
  client: SoakClient,
  format: Format,
  received: { readonly type: string; readonly text: string },
  { isMarked = true } = {},
): void {
  const answer = readAnswer(format, received.type, received.text);
  checkMeaning(client, answer, received.text.slice(-300));
  const hasMark = [answer.text, ...answer.calls].some((text) => text.includes(client.mark));
  demand(!isMarked || hasMark, "the answer is the one of another use");
}

/** The members of an answer that must be those of what the simulator said. */
const COMPARED = [
  "text",
  "reasoning",
  "calls",
  "reason",
  "furtherChoices",
  "inputTokens",
  "outputTokens",
] as const;

/** Throws unless an answer means what the simulator said last; `end` is the end of its text. */
export function checkMeaning(client: SoakClient, answer: Answer, end: string): void {
  const simulated = client.simulated().at(-1);
  demand(simulated !== undefined, "the simulator was not called");
  const expected = readAnswer(upstreamFormat(simulated.path), simulated.type, simulated.text());
  demand(answer.error === null, `the answer has an error: ${answer.error}`);
  demand(answer.isComplete, `the answer has no end: ${end}`);
  for (const name of COMPARED) {
    // An upstream that reports no tokens has none that could be altered.
    if (expected[name] === null) continue;
    const [one, other] = [answer[name], expected[name]].map((value) => JSON.stringify(value));
    demand(one === other, `${name}: received ${one}, the simulator said ${other}`);
  }
}

/** Throws unless an answer is without error the beginning of what the simulator said last. */
export function checkBeginning(client: SoakClient, { text, error }: Answer): void {
  const simulated = client.simulated().at(-1);
  demand(simulated !== undefined, "the simulator was not called");
  demand(error === null, `the answer has an error: ${error}`);
  const expected =
    readAnswer(upstreamFormat(simulated.path), simulated.type, simulated.text()).text;
  demand(expected.startsWith(text), `received ${text}, the simulator said ${expected}`);
}

/** Returns the text member at a path of a response; throws without one. */
export function textIn(received: Received, ...path: readonly (string | number)[]): string {
  const value = at(received.json, ...path);
  demand(typeof value === "string", `no text at ${path.join(".")}: ${received.text.slice(0, 300)}`);
  return value;
}
