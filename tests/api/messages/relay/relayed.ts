import { utf8Bytes } from "../../../../src/formats/utf8.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { pieces, streamOf } from "../../../support/pieces.ts";
import { type ScriptedWorld, scriptedWorld } from "../../../support/world.ts";

/** Request that an upstream received. */
export interface Sent {
  /** First label of the host, which is the ID of the provider. */
  readonly provider: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A response of an upstream. */
export interface Says {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the connection breaks behind the body, or if it stays open forever. */
  readonly ending?: "breaks" | "stays open";
}

/** Responses of each provider in order; the last one is repeated. */
export type Script = Readonly<Record<string, readonly [Says, ...Says[]]>>;

/** How a call is made. */
export interface Calling {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Response that a client received. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A gateway before scripted upstreams. */
export interface Relayed {
  readonly gateway: TestGateway;
  readonly world: ScriptedWorld;
  readonly sent: readonly Sent[];
  call(body: string, calling?: Calling): Promise<Received>;
}

/** A whole message, with unusual white space and notations. */
export const MESSAGE =
  '{ "id":"msg_1","type":"message","role":"assistant","model":"x","content":[ ],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":1.0e0} }';

/** A complete stream. */
export const STREAM = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3,"cache_creation_input_tokens":500,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
];

/** A request in the client's own notation. */
export const REQUEST = '{"model":"m", "max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}';

/** The same as a stream. */
export const STREAMED = REQUEST.replace("{", '{"stream":true,');

/** A response of an upstream that streams. */
export function streaming(...records: readonly string[]): Says {
  return { headers: { "content-type": "text/event-stream" }, body: records.join("") };
}

/**
 * A gateway with these providers and this route, before upstreams that answer by the script. `more`
 * is further configuration; without it nothing is retried. `bases` are base URLs other than
 * `http://ID.test`.
 */
export function relayed(
  providers: Readonly<Record<string, string>>,
  script: Script,
  route = "",
  more = "",
  bases: Readonly<Record<string, string>> = {},
): Relayed {
  const sent: Sent[] = [];
  const world = scriptedWorld({
    async fetch(url, init) {
      const provider = new URL(url).hostname.split(".")[0] ?? "";
      const calls = sent.filter((one) => one.provider === provider).length;
      const headers = new Headers(init.headers);
      sent.push({ provider, url, headers, body: await new Response(init.body ?? null).text() });
      const says = script[provider]?.[calls] ?? script[provider]?.at(-1) ?? { body: "" };
      const parts = pieces(utf8Bytes(says.body), 64);
      const body = says.ending === undefined
        ? streamOf(parts)
        : unendedStream(parts, says.ending === "breaks");
      return new Response(body, {
        status: says.status ?? 200,
        headers: { "content-type": "application/json", ...says.headers },
      });
    },
  });
  const ids = Object.keys(providers);
  const written = ids.map((id) =>
    `  ${id}: {base_url: "${bases[id] ?? `http://${id}.test`}", ${providers[id]}}\n`
  );
  const targets = route === "" ? `targets: [{provider: ${ids[0]}}]` : route;
  const gateway = testGateway(
    `providers:\n${written.join("")}routing:\n  routes: [{name: main, ${targets}}]\n${
      more === "" ? "retry: {enabled: false}\n" : more
    }`,
    world,
  );
  return {
    gateway,
    world,
    sent,
    async call(body, { headers = {}, path = "/v1/messages" } = {}) {
      const response = await gateway.app(
        new Request(`http://localhost${path}`, { method: "POST", headers, body }),
      );
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

/** Bytes that do not end: the connection breaks behind them, or nothing more comes. */
function unendedStream(parts: readonly Uint8Array[], breaks: boolean): ReadableStream<Uint8Array> {
  const waiting = [...parts];
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const part = waiting.shift();
      if (part !== undefined) return controller.enqueue(part.slice());
      if (breaks) controller.error(new TypeError("connection reset"));
      else return new Promise(() => {});
    },
  });
}
