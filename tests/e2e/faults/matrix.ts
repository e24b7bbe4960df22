import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { type CallReport, endOf } from "../../../src/observe/report.ts";
import { newSimulator } from "../../../src/simulator/simulator.ts";
import { readAnswer, readResponsesStream } from "../../../scripts/soak/answers.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import type { Break } from "./break.ts";
import { type Column, CONFIG, TEXT } from "./columns.ts";

/** What a client received. */
export interface Seen {
  /** Short text for the page. */
  readonly text: string;
  /** True if the answer is the whole one. */
  readonly isComplete: boolean;
  /** Number of failures in the answer. */
  readonly failures: number;
  /** Content that was delivered. */
  readonly content: string;
}

/** What became of one call. */
export interface Outcome {
  readonly seen: Seen;
  readonly report: Readonly<CallReport>;
  /** Hosts of the requests that were sent, in order. */
  readonly sentCount: number;
  readonly end: string;
}

/** A gateway before an upstream that breaks, with a clock that the matrix moves. */
export interface BreakingGateway extends AsyncDisposable {
  /** Runs a call whose upstream breaks in each of the first `brokenCount` attempts. */
  run(broken: Break | null, brokenCount: number): Promise<Outcome>;
}

interface Plan {
  readonly broken: Break | null;
  readonly brokenCount: number;
  sent: number;
  /** True while only time can end the attempt. */
  isSilent: boolean;
}

/**
 * Milliseconds that pass between two looks at a call: enough for a delay before a retry, or, if its
 * upstream is silent, for a timeout after a few looks.
 */
const STEP_MS = 20, SILENT_STEP_MS = 2_000;

const MAX_LOOKS = 5_000;

/** Opens a gateway for one kind of call. */
export function newBreakingGateway(column: Column): BreakingGateway {
  let plan: Plan = { broken: null, brokenCount: 0, sent: 0, isSilent: false };
  const simulate = newSimulator(scriptedWorld());

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    const current = plan;
    const { signal, method = "POST", headers = {}, body } = init;
    assert(signal instanceof AbortSignal);
    const sent = { method, headers, body: await new Response(body ?? null).text() };
    const whole = () => simulate(new Request(url, sent));
    const isBroken = ++current.sent <= current.brokenCount;
    current.isSilent = false;
    if (isBroken && current.broken !== null) {
      const fallSilent = () => void (current.isSilent = true);
      return await current.broken.answer({ column, signal, whole, fallSilent });
    }
    const response = await whole();
    return new Response(new Blob([await response.bytes()]).stream(), response);
  }

  const world = scriptedWorld({ fetch });
  const isSocket = column.delivery === "WebSocket";
  const served = isSocket ? socketGateway(CONFIG, { world }) : null;
  const gateway = served === null ? testGateway(CONFIG, world, {}) : null;

  const inTime: InTime = async (promise) => {
    let isOver = false;
    const over = promise.finally(() => isOver = true);
    over.catch(() => {});
    for (let look = 0; !isOver; look++) {
      assert(look < MAX_LOOKS, "the call does not end");
      await world.advance(plan.isSilent ? SILENT_STEP_MS : STEP_MS);
    }
    return await over;
  };

  async function call() {
    if (served !== null) return await runTurn(served, inTime, column);
    assert(gateway !== null);
    return await runCall(gateway, inTime, column);
  }

  return {
    async run(broken, brokenCount) {
      const running: Plan = { broken, brokenCount, sent: 0, isSilent: false };
      plan = running;
      const { seen, report } = await call();
      return { seen, report, sentCount: running.sent, end: endOf(report) };
    },
    async [Symbol.asyncDispose]() {
      await served?.[Symbol.asyncDispose]();
    },
  };
}

/** Lets time pass until a promise is settled. */
type InTime = <T>(promise: Promise<T>) => Promise<T>;

async function runCall(gateway: TestGateway, inTime: InTime, column: Column) {
  const count = gateway.reports.length + 1;
  const request = new Request(`http://localhost${column.path}`, {
    method: "POST",
    body: JSON.stringify(column.body),
  });
  const seen = await inTime(gateway.app(request).then((response) => look(column, response)));
  const report = await inTime(gateway.reported(count));
  assertEquals(gateway.reports.length, count);
  assertEquals(report.status, seen.status);
  return { seen, report };
}

async function look(column: Column, response: Response): Promise<Seen & { status: number }> {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  const [text, isBroken] = await textOf(response);
  if (status !== 200) {
    const json = parseJson(text);
    assert(isObject(json) && isObject(json.error), `no error: ${text}`);
    const code = codeOf(json.error);
    return { status, text: `${status} ${code}`, isComplete: false, failures: 1, content: "" };
  }
  if (column.format === null) return { status, ...lookAtWhole(column, text, isBroken) };
  const answer = readAnswer(column.format, type, text);
  assert(!isBroken, "a connection breaks only within bytes");
  const failures = text.split(/"error":\s*(?:\{|")|event: error\n/).length - 1;
  return {
    status,
    ...seenOf({
      error: answer.error,
      isComplete: answer.isComplete && answer.error === null,
      failures: Math.min(failures, 1),
      content: answer.text,
    }),
  };
}

function seenOf({ error, isComplete, failures, content }: {
  readonly error: string | null;
  readonly isComplete: boolean;
  readonly failures: number;
  readonly content: string;
}): Seen {
  const begun = content === "" ? "a stream without content" : "part of the answer";
  const text = isComplete ? "complete answer" : `${begun}, then the error \`${error}\``;
  return { text, isComplete, failures: isComplete ? 0 : failures, content };
}

/** Embeddings and relayed answers; the end of a stream is its `[DONE]`. */
function lookAtWhole({ delivery }: Column, text: string, isBroken: boolean): Seen {
  if (isBroken) {
    const what = "part of the bytes, then the connection breaks";
    return { text: what, isComplete: false, failures: 1, content: text };
  }
  const error = /"error":/.test(text) ? codeOf(lastError(text)) : null;
  const isComplete = error === null &&
    (delivery !== "stream" || text.trimEnd().endsWith("[DONE]"));
  const words = delivery === "stream"
    ? [...text.matchAll(/"text":"([^"]*)"/g)].map(([, word]) => word).join("")
    : text;
  return seenOf({
    error: error?.replaceAll("`", "") ?? null,
    isComplete,
    failures: text.split('"error":').length - 1,
    content: words,
  });
}

function lastError(text: string): JsonObject {
  const data = text.split("data: ").findLast((one) => one.includes('"error":')) ?? "";
  const json = parseJson(data.trim());
  return isObject(json) && isObject(json.error) ? json.error : {};
}

function codeOf({ code, type }: JsonObject): string {
  return `\`${typeof code === "string" ? code : String(type)}\``;
}

async function textOf(response: Response): Promise<readonly [text: string, isBroken: boolean]> {
  const pieces: Uint8Array[] = [];
  let isBroken = false;
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      pieces.push(read.value);
    }
  } catch {
    isBroken = true;
  }
  return [new TextDecoder().decode(new Uint8Array(pieces.flatMap((one) => [...one]))), isBroken];
}

async function runTurn(served: SocketGateway, inTime: InTime, { body }: Column) {
  const client = await inTime(served.open());
  // The handshake is a call too.
  const count = served.reports.length + 1;
  const { events, end, error } = await inTime(client.turn(body));
  const report = await inTime(served.reported(count));
  await inTime(client.close());
  assertEquals(served.reports.length, count);
  const answer = readResponsesStream(events);
  const isComplete = end.type === "response.completed";
  if (end.type === "error" && events.length === 1) {
    const text = `${end.status} ${codeOf(error)}`;
    return { seen: { text, isComplete: false, failures: 1, content: "" }, report };
  }
  const code = end.type === "error" ? codeOf(error).replaceAll("`", "") : answer.error;
  const seen = seenOf({ error: code, isComplete, failures: 1, content: answer.text });
  return { seen, report };
}

/** Throws unless an outcome keeps the promises of every call. */
export function checkOutcome(column: Column, broken: Break, outcome: Outcome, whole: Seen): void {
  const { seen, report, sentCount } = outcome;
  const where = `${column.call} over ${column.type}: ${broken.name}, ${broken.phase}: ${seen.text}`;
  // Exactly one failure, or a complete answer.
  assertEquals(seen.failures, seen.isComplete ? 0 : 1, where);
  if (column.format !== null) {
    // No answer twice: what the client has is the answer, or its beginning.
    if (seen.isComplete) assertEquals(seen.content, TEXT, where);
    assert(TEXT.startsWith(seen.content), `${where}: ${seen.content}`);
  } else if (column.delivery === "stream" || column.delivery === "bytes") {
    assert(whole.content.startsWith(seen.content), where);
  }
  // Sent again only before anything was delivered, and only if the provider cannot have begun it.
  assertEquals(report.attempts.length, sentCount, where);
  const isDelivered = seen.isComplete || seen.content !== "";
  if (isDelivered) {
    assertEquals(report.attempts.slice(0, -1).some(({ outcome }) => outcome === "success"), false);
  }
  assert(sentCount >= 1 && sentCount <= 4, where);
  if (column.isStateful && !broken.isUntaken) assertEquals(sentCount, 1, where);
}
