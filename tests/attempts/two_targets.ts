import { COMPLETION, type Got, verdictOf } from "../support/chat_call.ts";
import type { UpstreamExchange, UpstreamScript } from "../support/upstream.ts";

/** A whole stream with one chunk of content. */
export const STREAM: readonly string[] = [
  `data: ${
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
    })
  }\n\n`,
  "data: [DONE]\n\n",
];

/** Responds as requested, with a whole completion or a whole stream. */
export function succeed(exchange: UpstreamExchange): Promise<unknown> {
  return exchange.request.body.includes('"stream":true')
    ? exchange.sse(STREAM)
    : exchange.json(200, COMPLETION);
}

/** Plays one script after the other, request by request; the last one from then on. */
export function inTurn(...scripts: readonly UpstreamScript[]): UpstreamScript {
  let count = 0;
  return (exchange) => {
    const script = scripts[Math.min(count++, scripts.length - 1)] ?? succeed;
    return script(exchange);
  };
}

/** How a gateway with a target `first` (model x) and a fallback `second` (model y) is set. */
export interface Setting {
  readonly first: string;
  /** Absent: there is no fallback. */
  readonly second?: string;
  readonly retry?: string;
  readonly breaker?: string;
  /** More members of the provider `first`, such as `timeout: 1s`. */
  readonly provider?: string;
}

/** The configuration; no retries and no breaker unless they are set. */
export function config({ first, second, retry, breaker, provider }: Setting): string {
  return `
providers:
  first: {type: compat, base_url: "${first}"${provider === undefined ? "" : `, ${provider}`}}
  second: {type: compat, base_url: "${second ?? "http://unused"}"}
routing:
  routes:
    - name: r
      targets: [{provider: first, model: x}]
      fallback: [${second === undefined ? "" : "{provider: second, model: y}"}]
retry: {${retry ?? "enabled: false"}}
circuit_breaker: {${breaker ?? "enabled: false"}}
`;
}

/** Status, type and code, and the target that the answer names. */
export function verdictAndTarget(answer: Got): readonly unknown[] {
  const { headers } = answer;
  const named = `${headers.get("x-gateway-provider")}/${headers.get("x-gateway-model")}`;
  return [...verdictOf(answer), named];
}
