import { newSimulator } from "../../src/simulator/simulator.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";

const CONVERSATION_COUNT = 10, TURN_COUNT = 8;

/** Numbers that fall everywhere between 0 and 1, for targets by their weights. */
const RANDOM = Array.from({ length: 500 }, (_, at) => at * (Math.sqrt(5) - 1) / 2 % 1);

/** Prices in USD of a million tokens, as Messages providers have them: writes cost 1.25 times. */
const PRICE = "{input: 4, output: 20, cached_input: 0.4, cache_write: 5}";

/** Tokens that the provider has read from its caches, received and charged. */
interface Use {
  readonly read: number;
  readonly input: number;
  readonly usd: number;
}

/** A text of this many words, which no other text begins with. */
function words(name: string, count: number): string {
  return Array.from({ length: count }, (_, at) => `${name}.${at}`).join(" ");
}

function sum(text: string, name: string, labels = ""): number {
  return Object.entries(samplesNamed(text, name))
    .filter(([written]) => written.includes(labels))
    .reduce((total, [, value]) => total + value, 0);
}

/** Runs conversations of chat clients over targets that are accounts of one provider. */
async function converse(type: string, strategy: string, targets: number): Promise<Use> {
  const simulate = newSimulator(scriptedWorld());
  const world = scriptedWorld({
    async fetch(url, init) {
      const response = await simulate(new Request(url, init));
      return new Response(streamOf([await response.bytes()]), response);
    },
    random: RANDOM,
  });
  const settings = type === "messages" ? ", cache_breakpoints: auto" : "";
  const ids = Array.from({ length: targets }, (_, at) => `up${at}`);
  const provider = (id: string) =>
    `  ${id}: {type: ${type}, base_url: "http://up.test/${type}/v1", api_key: key-of-${id}${settings}}\n`;
  const gateway = testGateway(
    `
providers:
${ids.map(provider).join("")}
routing:
  routes:
    - name: main
      strategy: ${strategy}
      targets: [${ids.map((id) => `{provider: ${id}}`).join(", ")}]
pricing: {${ids.map((id) => `"${id}/*": ${PRICE}`).join(", ")}}
rate_limiting: {enabled: false}
`,
    world,
  );
  for (let n = 0; n < CONVERSATION_COUNT; n++) {
    const messages: JsonObject[] = [{ role: "system", content: words(`Rule ${n}`, 600) }];
    for (let turn = 0; turn < TURN_COUNT; turn++) {
      messages.push({ role: "user", content: words(`Ask ${n}/${turn}`, 150) });
      const headers = { "x-session-id": `conversation ${n}` };
      const reply = await got(
        await gateway.app(chatRequest({ headers, body: { model: "sim-echo", messages } })),
      );
      assertEquals(reply.status, 200, reply.text);
      messages.push(JSON.parse(reply.text).choices[0].message);
    }
  }
  await gateway.reported(CONVERSATION_COUNT * TURN_COUNT);
  const text = await gateway.gateway.metrics.scrape();
  return {
    read: sum(text, "gateway_cached_tokens_total", 'operation="read"'),
    input: sum(text, "gateway_tokens_total", 'direction="input"'),
    usd: sum(text, "gateway_cost_usd_total"),
  };
}

for (const type of ["messages", "compat"]) {
  Deno.test(`conversations read as much of the prompt cache over four sticky targets of type ${type} as over one, and less over weighted ones`, async () => {
    const one = await converse(type, "weighted", 1);
    const sticky = await converse(type, "sticky", 4);
    const weighted = await converse(type, "weighted", 4);
    assertEquals([sticky.input, weighted.input], [one.input, one.input]);
    assert(one.read > 0.7 * one.input, `${one.read} of ${one.input}`);
    assert(Math.abs(sticky.read / one.read - 1) < 0.01, `${sticky.read} of ${one.read}`);
    assert(weighted.read < 0.5 * one.read, `${weighted.read} of ${one.read}`);
    assert(Math.abs(sticky.usd / one.usd - 1) < 0.01, `${sticky.usd} for ${one.usd}`);
    assert(weighted.usd > 1.3 * one.usd, `${weighted.usd} for ${one.usd}`);
  });
}
