import {
  type Attack,
  many,
  MAX_GAP_PROCESSOR_MS,
  oneProvider,
  outcomeOf,
  send,
} from "./support.ts";

const PROPERTY_COUNT = 380, PATTERN_COUNT = 244;

/** Returns a request whose strict tools have `count` different patterns of large classes. */
function request(count: number): string {
  const properties = Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const pattern = `^[${"\\p{L}".repeat(PROPERTY_COUNT)}${at}]+$`;
      return [`p${at}`, { type: "string", pattern }];
    }),
  );
  const parameters = {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
  return JSON.stringify({
    model: "sim-echo",
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "write", strict: true, parameters } }],
  });
}

/** Strict tools with patterns of several hundred properties in one class. */
export const patterns: Attack = {
  row: "A1",
  size: (times) => `${Math.round(request(PATTERN_COUNT * times).length / 1000)} kB, 4 at once`,
  config: (upstream) => oneProvider(`${upstream}/local`, { type: "local" }),
  async load({ url }, times) {
    const body = request(PATTERN_COUNT * times);
    return outcomeOf(await many(4, () => send(`${url}/v1/chat/completions`, body)));
  },
  maxGapProcessorMs: MAX_GAP_PROCESSOR_MS,
};
