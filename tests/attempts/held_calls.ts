import { isObject, parseJson } from "../../src/core/json/json.ts";
import { type Reloadable, reloadable } from "../gateway/reloadable.ts";
import { configOf } from "../config/parse.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assert } from "../support/assert.ts";
import { type ChatOptions, chatRequest, COMPLETION, type Got, got } from "../support/chat_call.ts";
import { streamOf } from "../support/pieces.ts";
import { STREAM } from "./two_targets.ts";

/** One upstream call that runs until the test ends it. */
export interface HeldCall {
  /** Host of the provider. */
  readonly host: string;
  /** Number of the client's call, as `asked` counted it; 0 without one. */
  readonly number: number;
  readonly method: string;
  /** When it was sent, on the world's clock. */
  readonly at: number;
  readonly signal: AbortSignal | null;
  /** Answers with a status and a body; with a completion or a whole stream without them. */
  answer(status?: number, body?: string, headers?: Readonly<Record<string, string>>): void;
  /** Answers with this body. */
  respond(body: ReadableStream<Uint8Array>): void;
  /** True once it is answered or broken off. */
  isOver: boolean;
}

/** A gateway whose upstream calls wait for the test. */
export interface HeldGateway extends Reloadable {
  /** Every upstream call so far, in order. */
  readonly sent: readonly HeldCall[];
  /** Begins a chat call; the user's message holds its number, from 1. */
  asked(options?: ChatOptions): Promise<Got>;
  /** `host number` of each upstream call that runs, in order. */
  running(): readonly string[];
  /** The oldest upstream call that runs. */
  oldest(): HeldCall;
  /** Running attempts and waiting calls of a provider, as the metrics have them. */
  counts(provider: string): Promise<readonly (number | undefined)[]>;
  /** Serves another configuration from now on. */
  serve(setting: Setting): void;
}

/** Settings of a gateway with providers `a`, `b` and `c`, each at a host of its name. */
export interface Setting {
  readonly a?: string;
  readonly b?: string;
  readonly c?: string;
  readonly targets?: string;
  readonly fallback?: string;
  /** More sections. */
  readonly more?: string;
}

/** A configuration that neither retries nor breaks circuits unless `more` says so. */
export function heldConfig(setting: Setting): string {
  const { targets = "[{provider: a}]", fallback = "[]", more = NO_REPEATS } = setting;
  const provider = (id: "a" | "b" | "c") => {
    const settings = setting[id] ?? "";
    return `  ${id}: {type: compat, base_url: "http://${id}"${settings && `, ${settings}`}}`;
  };
  return `
providers:
${provider("a")}
${provider("b")}
${provider("c")}
routing:
  routes: [{name: r, targets: ${targets}, fallback: ${fallback}}]
${more}
`;
}

const NO_REPEATS = "retry: {enabled: false}\ncircuit_breaker: {enabled: false}";

/** Serves the configuration, given as settings or as a whole, in a scripted world. */
export function heldGateway(setting: Setting | string): HeldGateway {
  const sent: HeldCall[] = [];
  let calls = 0;
  const inside = reloadable(typeof setting === "string" ? setting : heldConfig(setting), {
    fetch(url, init) {
      const answered = Promise.withResolvers<Response>();
      const body = textIn(init?.body);
      const signal = init?.signal ?? null;
      const call: HeldCall = {
        host: new URL(url).hostname,
        number: numberIn(body),
        method: init?.method ?? "GET",
        at: inside.world.now(),
        signal,
        isOver: false,
        answer(status = 200, text = wholeAnswer(body), headers = {}) {
          call.isOver = true;
          const stream = streamOf([new TextEncoder().encode(text)]);
          answered.resolve(new Response(stream, { status, headers: { ...headers } }));
        },
        respond(stream) {
          call.isOver = true;
          answered.resolve(new Response(stream));
        },
      };
      sent.push(call);
      signal?.addEventListener("abort", () => {
        call.isOver = true;
        answered.reject(new TypeError("aborted"));
      });
      return answered.promise;
    },
  });
  return {
    ...inside,
    sent,
    async asked(options = {}) {
      const messages = [{ role: "user", content: `number ${++calls}` }];
      const request = chatRequest({ ...options, body: { messages, ...options.body } });
      return await got(await inside.app(request));
    },
    running: () =>
      sent.filter(({ isOver }) => !isOver).map(({ host, number }) => `${host} ${number}`),
    oldest() {
      const call = sent.find(({ isOver }) => !isOver);
      assert(call !== undefined, "no upstream call runs");
      return call;
    },
    async counts(provider) {
      const text = await inside.gateway.metrics.scrape();
      return ["running", "queued"].map((name) =>
        samplesNamed(text, `gateway_provider_${name}`)[`{provider="${provider}"}`]
      );
    },
    serve: (next) => void inside.gateway.reload(configOf(heldConfig(next))),
  };
}

function textIn(body: RequestInit["body"] | undefined): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body ?? "");
}

function numberIn(body: string): number {
  return Number(/number (\d+)/.exec(body)?.[1] ?? 0);
}

function wholeAnswer(body: string): string {
  const json = parseJson(body);
  const isStream = isObject(json) && json.stream === true;
  return isStream ? STREAM.join("") : JSON.stringify(COMPLETION);
}
