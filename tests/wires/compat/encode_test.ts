import { parseDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { encoded, provider } from "./encoded_request.ts";
import { targetAt } from "../../support/translated.ts";

const DEVELOPER = "normalize_developer_role: true";

Deno.test("a Chat request is sent to POST /chat/completions", () => {
  const document = parseDocument('{"messages":[]}');
  assert(document.ok);
  const chat = { document: document.value, stream: false, includeUsage: false };
  const request = compat.encode(chat, targetAt(provider()));
  assert(request.ok);
  assertEquals([request.value.method, request.value.path], ["POST", "/chat/completions"]);
});

Deno.test("text without an edit is sent byte for byte", () => {
  const text = ' {\n "model" : "m",\t"messages":[ ] , "n":1.0, "é":"\\u00e9\\/" }\r\n';
  assertEquals(encoded(text), text);
});

Deno.test("the target's model replaces the client's model, or is inserted at the start", () => {
  assertEquals(encoded('{ "a":1, "model" : "p/x" ,"b":2}'), '{ "a":1, "model" : "m" ,"b":2}');
  assertEquals(encoded('{"mod\\u0065l":"x"}'), '{"mod\\u0065l":"m"}');
  assertEquals(encoded('{ "a":1}'), '{"model":"m", "a":1}');
  assertEquals(encoded('{"model":null}'), '{"model":"m"}');
  assertEquals(encoded("{ }"), '{"model":"m" }');
});

Deno.test("a model field inside other values is not changed", () => {
  const rest = '"metadata":{"model":"x"},"tools":[{"model":"y"}],"user":"\\"model\\":\\"z\\""';
  assertEquals(encoded(`{"model":"m",${rest}}`), `{"model":"m",${rest}}`);
});

Deno.test("numbers keep their text", () => {
  const numbers = "[1.0, 1e400, -0, 12345678901234567890, 0.10, 1E+2, 1e-400]";
  const text = `{"model":"x","seed":12345678901234567890,"temperature":1.0,"logit":${numbers}}`;
  assertEquals(encoded(text), text.replace('"x"', '"m"'));
});

Deno.test("sampling values of the request override the provider's, which override the upstream's", () => {
  const defaults = ["temperature: 0.25", "top_p: 0.5"];
  const asked = '{"model":"m","temperature":0,"top_p":1.0}';
  assertEquals(encoded(asked, ...defaults), asked);
  assertEquals(
    encoded('{"model":"m"}', ...defaults),
    '{"temperature":0.25,"top_p":0.5,"model":"m"}',
  );
  assertEquals(encoded('{"model":"m"}'), '{"model":"m"}');
});

Deno.test("a null sampling value is replaced by the provider's default", () => {
  const asked = '{"model":"m","temperature":null,"top_p" : null}';
  assertEquals(
    encoded(asked, "temperature: 0.25", "top_p: 0.5"),
    '{"model":"m","temperature":0.25,"top_p" : 0.5}',
  );
  assertEquals(encoded(asked), asked);
});

Deno.test("top_k, legacy functions and unknown fields are sent unchanged", () => {
  const text = '{"model":"m","top_k":40,"functions":[{"name":"f"}],"function_call":"auto",' +
    '"thinking":{"budget":1},"store":true,"__proto__":{"model":"x"}}';
  assertEquals(encoded(text), text);
});

Deno.test("a developer message becomes a system message only if the provider is configured so", () => {
  const text = '{"model":"m","messages":[{"role":"developer","content":"developer"},' +
    '{"role":"user","content":"Hi"},{ "content":"x", "role" : "developer" }]}';
  const changed = text.replace('"role":"developer"', '"role":"system"')
    .replace('"role" : "developer"', '"role" : "system"');
  assertEquals(encoded(text), text);
  assertEquals(encoded(text, DEVELOPER), changed);
  assertEquals(encoded(text, "compatibility_profile: deepseek"), changed);
  assertEquals(
    encoded(text, "compatibility_profile: deepseek", "normalize_developer_role: false"),
    text,
  );
});

Deno.test("roles are found with escaped and with duplicate keys", () => {
  const wrap = (message: string) => `{"model":"m","messages":[${message}]}`;
  const cases = [
    ['{"\\u0072ole":"developer"}', '{"\\u0072ole":"system"}'],
    ['{"role":"\\u0064eveloper"}', '{"role":"system"}'],
    ['{"role":"user","role":"developer"}', '{"role":"user","role":"system"}'],
    ['{"role":"developer","role":"user"}', '{"role":"developer","role":"user"}'],
    ['{"role":"user","content":[{"role":"developer"}]}'],
    ['{"role":"user","content":"\\"role\\":\\"developer\\""}'],
    ['{"role":"developer","content":"]}\\\\\\""}', '{"role":"system","content":"]}\\\\\\""}'],
  ];
  for (const [before = "", behind = before] of cases) {
    assertEquals(encoded(wrap(before), DEVELOPER), wrap(behind));
  }
});

Deno.test("usage of a stream is requested in addition to the client's stream options", () => {
  const usage = '{"include_usage":true}';
  assertEquals(
    encoded('{"model":"m","stream":true}'),
    `{"stream_options":${usage},"model":"m","stream":true}`,
  );
  const options = (text: string) => `{"model":"m","stream":true,"stream_options":${text}}`;
  for (const nothing of ["null", "{}", '{"include_usage":false}', '{"include_usage":null}']) {
    assertEquals(encoded(options(nothing)), options(usage));
  }
  assertEquals(
    encoded(options('{ "include_obfuscation":false }')),
    options('{"include_usage":true, "include_obfuscation":false }'),
  );
  assertEquals(
    encoded(options('{"include_usage":true,"include_usage":false}')),
    options('{"include_usage":true,"include_usage":true}'),
  );
  const asked = options('{"include_usage" : true,"x":1.0}');
  assertEquals(encoded(asked), asked);
});

Deno.test("a request without streaming keeps its stream options", () => {
  for (const text of ['{"model":"m","stream":false}', '{"model":"m","stream_options":null}']) {
    assertEquals(encoded(text), text);
  }
});

Deno.test("a request of any nesting depth is sent", () => {
  const nested = "[".repeat(100_000) + "]".repeat(100_000);
  const text = `{"a":${nested},"model":"x","messages":[{"role":"developer","content":${nested}}]}`;
  const sent = encoded(text, DEVELOPER);
  assert(sent === text.replace('"x"', '"m"').replace('"developer"', '"system"'));
});
