import { isObject, type JsonObject, parseJson } from "../src/core/json/json.ts";
import type { WireName } from "../src/wires/wire.ts";
import { assert, assertEquals } from "./support/assert.ts";
import { type GoldenCase, goldenCases } from "./support/golden.ts";
import { assertSent, goldenConfig, type GoldenSent, goldenWorld } from "./support/golden_world.ts";
import { assertValid } from "./support/schemas.ts";
import { socketGateway } from "./support/socket_gateway.ts";
import type { ScriptedWorld } from "./support/world.ts";

/** Where clients speak Responses, and the protocol of the upstream. */
const FOLDERS = {
  responses_over_compat: "compat",
  responses_over_messages: "messages",
  responses_over_local: "local",
} as const;

/** The ids of a case begin with its request; the handshake before it has its own ID. */
function afterHandshake(world: ScriptedWorld): ScriptedWorld {
  let handshakes = 0;
  return { ...world, uuid: () => handshakes++ === 0 ? "handshake" : world.uuid() };
}

/** Plays a case over a socket; the result is what comes, one message each. */
async function received(one: GoldenCase, wire: WireName, size: number): Promise<readonly string[]> {
  const { body } = one.upstreamAnswer;
  const seen: GoldenSent[] = [];
  const world = afterHandshake(goldenWorld(one.upstreamAnswer, body, size, seen));
  await using served = socketGateway(goldenConfig(wire), { world });
  await using client = await served.open({
    ...one.clientRequest.headers,
    "x-gateway-sessionid": "s",
  });
  client.send(one.clientRequest.body.replace("{", '{"type":"response.create",'));
  const messages: string[] = [];
  while (!messages.some(isEnd)) messages.push(await client.text());
  assertSent(one, seen);
  await client.close();
  assertEquals(client.unread, 0);
  return messages;
}

function isEnd(message: string): boolean {
  return /^\{"type":"(?:error|response\.(?:completed|incomplete|failed))"/.test(message);
}

/** The data of the records of a stream. */
function dataOf(text: string): readonly string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data);
}

/** The event of a refused turn must carry the same error as the HTTP response. */
function checkError(message: string | undefined, { status, body }: GoldenCase["clientAnswer"]) {
  const event = parseJson(message ?? "");
  assertValid("ResponseWsError", event);
  const envelope = parseJson(body);
  assert(isObject(event) && isObject(envelope) && isObject(envelope.error));
  const { type = null, code = null, message: words, param = null } = envelope.error;
  const error: JsonObject = { type, code, message: words, param };
  assertEquals<unknown>(event.error, error);
  assertEquals<unknown>(event, {
    type: "error",
    status,
    code,
    message: words,
    param,
    sequence_number: 0,
    error,
  });
}

for (const [folder, wire] of Object.entries(FOLDERS)) {
  const cases = goldenCases(new URL(`golden/${folder}`, import.meta.url).pathname)
    .filter(({ clientRequest }) => clientRequest.body.includes('"stream":true'));

  Deno.test(`${folder} has golden streams for sockets`, () => assert(cases.length > 0));

  for (const one of cases) {
    Deno.test(`a socket sends the same events as a stream: ${folder}/${one.name}`, async () => {
      const { clientAnswer, upstreamAnswer } = one;
      for (const size of [7, Math.max(1, upstreamAnswer.body.length * 3)]) {
        const messages = await received(one, wire, size);
        if (clientAnswer.status === 200) assertEquals(messages, dataOf(clientAnswer.body));
        else checkError(messages[0], clientAnswer);
      }
    });
  }
}
