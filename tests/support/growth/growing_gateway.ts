import type { BodySource, FieldReader, Incoming, World } from "../../../src/core/world.ts";
import { assertEquals } from "../assert.ts";
import { testGateway } from "../gateway.ts";
import { scriptedWorld } from "../world.ts";
import type { GrowingCall } from "./doubling.ts";

/** Response of an upstream. */
export interface GrowingAnswer {
  readonly body: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Bytes in one read; 64 KiB when absent. */
  readonly readSize?: number;
}

/** A call over HTTP as it is sent to the gateway, and what its upstream answers. */
export interface GrowingExchange {
  readonly method?: "GET" | "POST" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answer: GrowingAnswer;
}

/** The providers of a growing gateway, one of each type; `native` speaks Responses. */
export const PROVIDERS = ["compat", "native", "messages", "local"] as const;

export type ProviderName = (typeof PROVIDERS)[number];

const CAPABILITIES = `capabilities:
      responses_lifecycle: true
      response_cancellation: true
      response_compaction: true
      response_input_tokens: true
      conversations: true
      chat_completions_lifecycle: true
      structured_outputs: true
      embeddings_base64: true
      relay: [completions, moderations, images, audio, files, batches, rerank]
      reasoning_effort: true`;

function providerText(name: ProviderName): string {
  const type = name === "native" ? "compat" : name;
  const more = name === "native"
    ? `\n    ${CAPABILITIES}`
    : name === "compat"
    ? "\n    normalize_developer_role: true"
    : "";
  return `  ${name}:
    type: ${type}
    base_url: "http://${name}.test"
    api_key: sk-upstream-secret
    default_model: m
    extract_reasoning_tags: true
    models: {mode: fetch}${more}
`;
}

function targetText(name: ProviderName): string {
  return name === "native"
    ? `        - {provider: native, upstream_request_type: responses}\n`
    : `        - {provider: ${name}}\n`;
}

// A gateway may be configured to take more than the usual number of members, and then has to stand
// it.
const CONFIG = `server: {max_json_members: 10000000}
providers:
${PROVIDERS.map(providerText).join("")}routing:
  routes:
    - name: main
      omit_tools: [web_search]
      targets:
${PROVIDERS.map(targetText).join("")}retry: {enabled: false}
circuit_breaker: {enabled: false}
`;

/** The configuration of a growing gateway, with more sections behind it. */
export function growingConfig(more = ""): string {
  return CONFIG + more;
}

/**
 * Members of the outermost object, or items of a stored response, in the largest call of the
 * search. The gateway accepts 10,000, and a second comparison doubles 1.4 times as many.
 */
export const MAX_GROWN_MEMBERS = 3_500;

/** How a growing call differs from the usual one. */
export interface GrowingOptions {
  /** The gateway refuses the call, or its answer, after it has done its work. */
  readonly isRefused?: boolean;
  readonly most?: number | undefined;
  readonly config?: string;
}

/**
 * Returns a call to a new gateway in the process. It fails when it is refused unexpectedly, or
 * accepted unexpectedly: a call that ends before its work is done would show nothing.
 */
export function growingCall(
  name: string,
  exchange: (n: number) => GrowingExchange,
  { isRefused = false, most, config = CONFIG }: GrowingOptions = {},
): GrowingCall {
  return {
    name,
    most,
    prepare(n) {
      const { method = "POST", path, headers = {}, body = "{}", answer } = exchange(n);
      const { app } = testGateway(config, { ...scriptedWorld(), send: sendOf(answer) });
      const sent = method === "POST" ? new TextEncoder().encode(body) : null;
      const request = new Request(`http://localhost/v1${path}`, { method, headers, body: sent });
      return Promise.resolve({
        async run() {
          const response = await app(request);
          const text = await response.text();
          const isWhole = response.status === 200 && !BROKEN.test(text);
          const shown = isWhole === isRefused ? `: ${response.status} ${text.slice(0, 300)}` : "";
          assertEquals(`${name}${shown}`, name);
        },
      });
    },
  };
}

/** In the terminal of a stream that broke off. */
const BROKEN = /"type":"(?:response\.failed|upstream_error)"|^event: error$/m;

/** Returns a network on which every upstream gives this answer. */
export function sendOf(answer: GrowingAnswer): World["send"] {
  const bytes = new TextEncoder().encode(answer.body);
  return () => Promise.resolve(incoming(answer, bytes));
}

function incoming(answer: GrowingAnswer, bytes: Uint8Array<ArrayBuffer>): Incoming {
  return { status: 200, headers: fieldsOf(answer), body: bodyOf(bytes, answer.readSize) };
}

function fieldsOf({ headers = [] }: GrowingAnswer): FieldReader {
  const fields = new Map(headers);
  return {
    get: (name) => fields.get(name) ?? null,
    [Symbol.iterator]: () => fields.entries(),
  };
}

function bodyOf(bytes: Uint8Array<ArrayBuffer>, readSize = 64 * 1024): BodySource {
  let at = 0;
  return {
    read() {
      if (at >= bytes.length) return Promise.resolve(null);
      const piece = bytes.slice(at, at + readSize);
      at += readSize;
      return Promise.resolve(piece);
    },
    cancel: () => Promise.resolve(),
  };
}
