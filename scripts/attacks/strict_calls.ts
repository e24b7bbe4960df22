import {
  type Attack,
  many,
  MAX_GAP_PROCESSOR_MS,
  oneProvider,
  outcomeOf,
  send,
} from "./support.ts";

const CALL_COUNT = 30;

/** A text whose check fills the table of an automaton with a state for nearly each character. */
const SLOW_PATTERN = "^[ab]*a[ab]{200}$", TEXT_CHARS = 30_000;

const PROPERTIES = {
  slow: { type: "string", pattern: SLOW_PATTERN },
  many: {
    type: "array",
    items: { anyOf: [{ type: "string", pattern: "^b+$" }, { type: "number" }] },
  },
};

/** Responds as a local runtime with as many calls as the prompt says. */
async function respond(request: Request): Promise<Response> {
  const { messages } = await request.json();
  let state = 1;
  const letters = Array.from({ length: TEXT_CHARS }, () => {
    state = (state * 48271) % 2147483647;
    return state % 2 === 0 ? "a" : "b";
  });
  const args = { slow: letters.join(""), many: Array.from({ length: 20_000 }, (_, at) => at) };
  const call = { function: { name: "write", arguments: args } };
  const message = {
    role: "assistant",
    content: "",
    tool_calls: Array(Number(messages.at(-1).content)).fill(call),
  };
  const end = { done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 1 };
  const body = JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", message, ...end });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** Responses with many strict calls, each slow to check. */
export const strictCalls: Attack = {
  row: "A7",
  size: (times) => `4 answers of ${CALL_COUNT * times} calls`,
  config: (upstream) => ({
    ...oneProvider(upstream, { type: "local" }),
    retry: { enabled: false },
  }),
  upstream: respond,
  async load({ url }, times) {
    const parameters = {
      type: "object",
      properties: PROPERTIES,
      required: Object.keys(PROPERTIES),
      additionalProperties: false,
    };
    const body = JSON.stringify({
      model: "m",
      messages: [{ role: "user", content: String(CALL_COUNT * times) }],
      tools: [{ type: "function", function: { name: "write", strict: true, parameters } }],
    });
    return outcomeOf(await many(4, () => send(`${url}/v1/chat/completions`, body)));
  },
  maxGapProcessorMs: MAX_GAP_PROCESSOR_MS,
};
