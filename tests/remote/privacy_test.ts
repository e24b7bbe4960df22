import { parseConfig } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";
import { startUpstream, type UpstreamScript } from "../support/upstream.ts";
import { outboundGateway } from "./outbound_gateway.ts";

/** Texts that may leave only when their switch says so. */
const PROMPT = "mark-of-prompt", ANSWER = "mark-of-answer", ERROR = "mark-of-error";

/** Texts that never leave for the dashboard. */
const NEVER = [
  "mark-of-client-key",
  "mark-of-provider-key",
  "mark-of-url-user",
  "mark-of-url-password",
  "mark-of-static-header",
  "mark-of-cookie",
  "mark-of-header",
  "mark-of-query",
  "mark-of-answer-cookie",
  "mark-of-answer-header",
  "mark-of-traceparent",
] as const;

const GENERAL_KEY = "mark-of-gateway-key";

const HEADERS = {
  "authorization": "Bearer mark-of-client-key",
  "cookie": "session=mark-of-cookie",
  "x-internal": "mark-of-header",
  "openai-organization": "mark-of-header",
  "traceparent": "mark-of-traceparent",
  "x-team": "blue",
};

interface Switches {
  readonly enabled: boolean;
  readonly share_prompts: boolean;
  readonly share_responses: boolean;
  readonly remote_control: boolean;
}

function combinations(): Switches[] {
  return Array.from({ length: 16 }, (_, bits) => ({
    enabled: (bits & 1) > 0,
    share_prompts: (bits & 2) > 0,
    share_responses: (bits & 4) > 0,
    remote_control: (bits & 8) > 0,
  }));
}

const upstreamScript: UpstreamScript = (exchange) => {
  const body = exchange.request.body;
  const headers = {
    "set-cookie": "a=mark-of-answer-cookie",
    "x-internal": "mark-of-answer-header",
  };
  const error = { message: ERROR, type: "invalid_request_error", param: null, code: ERROR };
  if (body.includes("to-fail")) return exchange.json(400, { error }, headers);
  const message = { role: "assistant", content: ANSWER };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  if (!body.includes('"stream":true')) {
    return exchange.json(200, { ...COMPLETION, choices }, headers);
  }
  const chunk = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: message, finish_reason: "stop" }],
  };
  return exchange.sse([`data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n"]);
};

function configText(upstream: string, board: string, switches: Switches): string {
  const base = upstream.replace("//", "//mark-of-url-user:mark-of-url-password@");
  return JSON.stringify({
    logging: { level: "debug" },
    providers: {
      up: {
        type: "compat",
        base_url: base,
        api_key: "mark-of-provider-key",
        headers: { "x-static": "mark-of-static-header" },
      },
    },
    routing: { routes: [{ name: "main", targets: [{ provider: "up" }] }] },
    retry: { enabled: false },
    security: { enabled: true, api_key: { keys: [{ name: "a", value: "mark-of-client-key" }] } },
    general: { api_key: GENERAL_KEY, backend_url: board },
    data_sharing: switches,
    update_check: { endpoint: `${board}/release` },
  });
}

/** Everything that has reached the dashboard, with the messages of the control channel. */
async function received(dashboard: Dashboard, hasChannel: boolean): Promise<string> {
  const parts = dashboard.requests.flatMap(({ method, path, headers, text }) => {
    const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
    return [`${method} ${path}`, ...lines, text];
  });
  if (!hasChannel) return parts.join("\n");
  const socket = await dashboard.socket();
  for (let message = await socket.receive(); message !== null;) {
    parts.push(JSON.stringify(message));
    message = await socket.receive();
  }
  return parts.join("\n");
}

Deno.test("prompts and responses that are not shared are never sent, whatever the other switches are", async () => {
  await using upstream = startUpstream(upstreamScript);
  for (const switches of combinations()) {
    const { enabled, share_prompts, share_responses, remote_control } = switches;
    await using dashboard = startDashboard();
    const config = configText(upstream.url, dashboard.url, switches);
    if (remote_control && !enabled) {
      assertEquals(parseConfig(config, {}).ok, false);
      continue;
    }
    const gateway = await outboundGateway(config);
    for (const more of [{}, { stream: true }, { user: "to-fail" }]) {
      const messages = [{ role: "user", content: PROMPT }];
      const response = await gateway.fetch("/v1/chat/completions?key=mark-of-query", {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify({ model: "m", messages, ...more }),
      });
      await response.bytes();
    }
    await gateway.close();
    const all = await received(dashboard, remote_control);
    const name = JSON.stringify(switches);
    for (const mark of NEVER) assert(!all.includes(mark), `${mark} with ${name}`);
    assertEquals(all.includes(PROMPT), enabled && share_prompts, name);
    assertEquals(all.includes(ANSWER), enabled && share_responses, name);
    assertEquals(all.includes(ERROR), enabled && (share_prompts || share_responses), name);
    assertEquals(all.includes("blue"), enabled, name);
    assertEquals(all.includes('"type":"hello"'), remote_control, name);
    const keys = all.split("\n").filter((line) => line.includes(GENERAL_KEY));
    assert(keys.every((line) => line === `authorization: Bearer ${GENERAL_KEY}`), name);
    assertEquals(dashboard.requests.length > 0, enabled, name);
    assert(!gateway.terminal.written.err.includes("mark-of"), name);
  }
});
