import { assert, assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, got } from "../../support/chat_call.ts";
import { twoKeys } from "../../support/client_keys.ts";
import { privacyConfig } from "../../privacy/rules.ts";
import { testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import {
  called,
  calling,
  SEALING,
  type Sealing,
  thinkingConfig,
  TOOLS,
  USER,
} from "./thinking_gateway.ts";

const SECRET = { text: "secret thought", seal: "secret-seal" };

function gatewayOf(sealing: Sealing, more: string) {
  let count = 0;
  const world = scriptedWorld({
    fetch: () => answers(200, calling(sealing, SECRET, false, `call_${++count}`)),
  });
  return testGateway(thinkingConfig(sealing, { more }), world);
}

for (const sealing of SEALING) {
  Deno.test(`stored reasoning over ${sealing} is neither logged nor counted by its content`, async () => {
    const { app, gateway, log } = gatewayOf(sealing, twoKeys());
    const headers = { authorization: "Bearer key-of-ada" };
    const first = chatRequest({ headers, body: { messages: [USER], tools: TOOLS } });
    assertEquals((await got(await app(first))).status, 200);
    const messages = [USER, ...called({ reasoning_content: SECRET.text })];
    const second = chatRequest({ headers, body: { messages, tools: TOOLS } });
    assertEquals((await got(await app(second))).status, 200);
    const metrics = await gateway.metrics.scrape();
    assert(metrics.includes('gateway_state_entries{store="reasoning"} 2\n'));
    assert(log.length > 0);
    for (const text of [...log, metrics]) {
      assertEquals(/secret thought|secret-seal|call_1/.test(text), false, text);
    }
  });

  Deno.test(`reasoning over ${sealing} that has the token of a value is put back, with its token, for the text that the client received`, async () => {
    const value = "bob.miller@example.com";
    const sent: string[] = [];
    const world = scriptedWorld({
      async fetch(_url, { body }) {
        const text = await new Response(body ?? "").text();
        sent.push(text);
        const [token = "none"] = /qz(?:[a-z]{2}){8}email/.exec(text) ?? [];
        const thought = { text: `mail ${token}`, seal: "sealed" };
        return await answers(200, calling(sealing, thought, false));
      },
    });
    const more = privacyConfig(["find: [email], action: replace"]);
    const { app } = testGateway(thinkingConfig(sealing, { more }), world);
    const user = { role: "user", content: `Mail ${value}` };
    const first = await got(await app(chatRequest({ body: { messages: [user], tools: TOOLS } })));
    assert(first.text.includes(`mail ${value}`), first.text);
    const messages = [user, ...called({ reasoning_content: `mail ${value}` })];
    const second = await got(await app(chatRequest({ body: { messages, tools: TOOLS } })));
    assertEquals([second.status, second.headers.get("x-gateway-lossy")], [200, null]);
    assert(
      /mail qz(?:[a-z]{2}){8}email/.test(sent[1] ?? "") && sent[1]?.includes("sealed"),
      sent[1],
    );
    assert(!sent.join().includes("bob.miller"), sent.join());
  });

  Deno.test(`a response over ${sealing} whose reasoning is stored for its client is not cached`, async () => {
    const { app, gateway } = gatewayOf(sealing, "caching: {enabled: true}\n");
    for (const id of ["call_1", "call_2"]) {
      const answer = await got(await app(chatRequest({ body: { tools: TOOLS } })));
      assertEquals(answer.headers.get("x-gateway-cache-status"), "MISS");
      assert(answer.text.includes(id));
    }
    assertEquals(gateway.state.cache.entries, 0);
  });
}
