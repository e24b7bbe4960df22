import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const WELL = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
const DEPTH_COUNT = 190_000;

async function post(body: BodyInit, headers: Record<string, string> = {}) {
  let sent = 0;
  const world = scriptedWorld({
    fetch() {
      sent++;
      return answers(200, COMPLETION);
    },
  });
  const gateway = testGateway(oneProvider("http://up"), world);
  const request = new Request(chatRequest().url, { method: "POST", body, headers });
  const answer = await got(await gateway.app(request));
  return { ...answer, sent };
}

const NOT_A_DOCUMENT: readonly (readonly [what: string, body: BodyInit])[] = [
  ["no JSON", "hello"],
  ["JSON that is cut off", WELL.slice(0, -1)],
  ["data behind the object", `${WELL} {}`],
  ["a comment", `/* */ ${WELL}`],
  ["an array", `[${WELL}]`],
  ["a string", '"text"'],
  ["a number", "1"],
  ["null", "null"],
  ["a key that comes twice", `{"model":"a",${WELL.slice(1)}`],
  ["a key that comes twice, once with an escape", `{"\\u006dodel":"a",${WELL.slice(1)}`],
  ["nothing", ""],
  ["white space", " \n"],
  ["a byte order mark", `\uFEFF${WELL}`],
  ["bytes that are no UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ["half a surrogate pair in UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ["UTF-16", new Uint8Array([0x7b, 0, 0x7d, 0])],
];

for (const [what, body] of NOT_A_DOCUMENT) {
  Deno.test(`a body that is ${what} is refused as invalid_json`, async () => {
    const { status, error, sent } = await post(body);
    assertEquals(status, 400);
    assertEquals(error.type, "invalid_request_error");
    assertEquals(error.code, "invalid_json");
    assertEquals(error.param, null);
    assertEquals(sent, 0);
  });
}

Deno.test("the content type of a request is ignored", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    assertEquals((await post(WELL, { "content-type": type })).status, 200);
  }
  assertEquals((await post(new TextEncoder().encode(WELL))).status, 200);
});

Deno.test("U+FFFD that is really sent is text like any other", async () => {
  assertEquals((await post(WELL.replace("Hi", "\uFFFD"))).status, 200);
});

Deno.test("JSON of any depth is read, within the limit of members and elements", async () => {
  const nested = "[".repeat(DEPTH_COUNT) + "]".repeat(DEPTH_COUNT);
  assertEquals((await post(`{"extra":${nested},${WELL.slice(1)}`)).status, 200);
  assertEquals((await post(`{"messages":${nested}}`)).status, 400);
});

Deno.test("a refusal does not repeat long keys", async () => {
  const key = "k".repeat(5000);
  const { text } = await post(`{"${key}":1,"${key}":2,${WELL.slice(1)}`);
  assertEquals(text.includes(key), false);
});
