import { RE2JS } from "re2js";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import { strictObject } from "./verified.ts";

const TARGETS = ["one", "two", "three"];

/** Three targets of a type that verifies strict schemas, each of which fails. */
const CONFIG = `
providers:
${
  TARGETS.map((id) => `  ${id}: {type: local, base_url: "http://${id}.test", default_model: m}`)
    .join("\n")
}
routing:
  routes: [{name: main, targets: [${TARGETS.map((id) => `{provider: ${id}}`).join(", ")}]}]
retry: {enabled: false}
`;

const PATTERN = "^[\\p{L} ]{1,60}$";
const SCHEMA = strictObject({ a: { type: "string", pattern: PATTERN } });

const REQUESTS: readonly (readonly [path: string, body: JsonObject])[] = [
  ["/v1/chat/completions", {
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "f", strict: true, parameters: SCHEMA } }],
  }],
  ["/v1/messages", {
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ name: "f", strict: true, input_schema: SCHEMA }],
  }],
  ["/v1/responses", {
    input: "Hi",
    store: false,
    tools: [{ type: "function", name: "f", strict: true, parameters: SCHEMA }],
  }],
];

for (const [path, body] of REQUESTS) {
  Deno.test(`a pattern of a request is compiled once for all its targets: ${path}`, async () => {
    const compiled: string[] = [];
    const { compile } = RE2JS;
    RE2JS.compile = (pattern, ...rest) => {
      compiled.push(pattern);
      return compile.call(RE2JS, pattern, ...rest);
    };
    const asked: string[] = [];
    const world = {
      ...scriptedWorld(),
      send(url: string) {
        asked.push(new URL(url).hostname);
        return Promise.reject(new Error("no connection"));
      },
    };
    try {
      const response = await testGateway(CONFIG, world).app(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { host: "localhost" },
          body: JSON.stringify({ model: "m", ...body }),
        }),
      );
      assertEquals(response.status, 502, await response.text());
    } finally {
      RE2JS.compile = compile;
    }
    assertEquals(asked.length, TARGETS.length);
    assertEquals(compiled.length, 1);
  });
}
