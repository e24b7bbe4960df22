import { assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { newSigningKey, refreshKeys, tokenSecurity } from "../../support/token_issuer.ts";
import { privacyConfig } from "../../privacy/rules.ts";
import { oneProvider } from "../../support/gateway.ts";
import { heldStream, saying, wordStreams } from "../../support/word_stream.ts";

function config(host: string, ...keys: readonly string[]): string {
  const list = keys.map((key) => `{name: ${key}, value: key-of-${key}}`).join(", ");
  const security = keys.length === 0 ? "" : `security: {enabled: true, api_key: {keys: [${list}]}}`;
  return `
providers:
  ${host}: {type: compat, base_url: "http://${host}.test", api_key: k}
routing:
  routes: [{name: to-${host}, targets: [{provider: ${host}}]}]
retry: {enabled: false}
${security}
`;
}

Deno.test("an open socket keeps the routes of its handshake, a new one gets the new ones", async () => {
  const upstream = wordStreams(({ url }) => saying(new URL(url).hostname));
  await using served = socketGateway(config("old"), upstream);
  await using before = await served.open();
  const first = await before.turn(create());
  served.reload(config("new"));
  await using after = await served.open();
  const second = await before.turn(create({ previous_response_id: first.id }));
  assertEquals([first.output, second.output], ["old.test", "old.test"]);
  assertEquals((await after.turn(create())).output, "new.test");
  assertEquals((await before.turn(create())).output, "old.test");
  assertEquals(served.reports.slice(2).map(({ route }) => route), [
    null,
    "to-old",
    "to-new",
    "to-old",
  ]);
});

Deno.test("the key of a socket is checked again by the keys of the moment", async () => {
  const upstream = wordStreams(() => saying("yes"));
  await using served = socketGateway(config("up", "ada", "bob"), upstream);
  await using ada = await served.open({ authorization: "Bearer key-of-ada" });
  await using bob = await served.open({ authorization: "Bearer key-of-bob" });
  assertEquals((await ada.turn(create())).output, "yes");
  served.reload(config("up", "bob"));
  const { end, error } = await ada.turn(create({ stream_id: "s" }));
  assertEquals<unknown>(
    [end.status, error.type, error.code, end.stream_id],
    [401, "authentication_error", "invalid_api_key", "s"],
  );
  assertEquals((await bob.turn(create())).output, "yes");
  served.reload(config("up", "ada"));
  assertEquals((await ada.turn(create())).output, "yes");
  assertEquals(upstream.sent.length, 3);
  assertEquals(served.reports.map(({ client }) => client), [
    "ada",
    "bob",
    "ada",
    null,
    "bob",
    "ada",
  ]);
});

const LAPSES = {
  removed: "{name: bob, value: key-of-bob}",
  disabled: "{name: ada, value: key-of-ada, disabled: true}",
  expired: "{name: ada, value: key-of-ada, expires: 2001-01-01}",
};

for (const [lapse, key] of Object.entries(LAPSES)) {
  Deno.test(`a socket whose key was ${lapse} since the handshake is refused, and closed with 1008 at its second message`, async () => {
    const upstream = wordStreams(() => saying("yes"));
    await using served = socketGateway(config("up", "ada"), upstream);
    await using ada = await served.open({ authorization: "Bearer key-of-ada" });
    assertEquals((await ada.turn(create())).output, "yes");
    served.reload(config("up") + `security: {enabled: true, api_key: {keys: [${key}]}}`);
    for (const stream_id of ["one", "two"]) {
      const { end, error } = await ada.turn(create({ stream_id }));
      assertEquals<unknown>([end.status, error.code, end.stream_id], [
        401,
        "invalid_api_key",
        stream_id,
      ]);
    }
    assertEquals([await ada.closed, upstream.sent.length], [1008, 1]);
    await served.gateway.state.inFlight.idle();
    assertEquals(served.reports.map(({ status }) => status), [101, 200, 401, 401]);
  });
}

Deno.test("a socket whose key is refused closes also when its address has no token left, and runs nothing", async () => {
  const upstream = wordStreams(() => saying("yes"));
  const rate = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 1}\n";
  await using served = socketGateway(config("up", "ada"), upstream);
  await using ada = await served.open({ authorization: "Bearer key-of-ada" });
  served.reload(rate + config("up", "bob"));
  assertEquals((await ada.turn(create())).error.code, "invalid_api_key");
  ada.send(create());
  assertEquals([await ada.closed, upstream.sent.length], [1008, 0]);
});

for (const data of ["text", "bytes"] as const) {
  Deno.test(`a message that is not admitted is not parsed: above 32 KiB its error has no stream_id (${data})`, async () => {
    const upstream = wordStreams(() => saying("yes"));
    const rate = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 1}\n";
    await using served = socketGateway(rate + config("up"), upstream);
    await using client = await served.open();
    for (const chars of [0, 33 * 1024]) {
      const text = JSON.stringify(create({ stream_id: "s", input: "x".repeat(chars) }));
      const message = data === "text" ? text : new TextEncoder().encode(text);
      const { end, error } = await client.turn(message);
      assertEquals<unknown>([error.code, end.stream_id ?? null], [
        "rate_limit_exceeded",
        chars === 0 ? "s" : null,
      ]);
    }
    assertEquals(served.gateway.state.admission.count(), 0);
  });
}

Deno.test("a message without a place is not parsed either, and one that is no request gives its place back", async () => {
  const held = heldStream();
  const upstream = wordStreams(held.answer);
  const full = "server: {max_concurrent_requests: 2}\n";
  await using served = socketGateway(full + config("up"), upstream);
  await using client = await served.open();
  await using other = await served.open();
  client.send(create());
  held.say("one");
  assertEquals<unknown>((await client.next()).type, "response.created");
  client.send("no JSON");
  assertEquals<unknown>((await other.turn("no JSON")).error.code, "invalid_json");
  assertEquals(served.gateway.state.admission.count(), 1);
  client.send(create());
  while (served.gateway.state.admission.count() < 2) {
    await fetch(`${served.url}/health`).then((r) => r.text());
  }
  const padding = "x".repeat(33 * 1024);
  const { end, error } = await other.turn(create({ stream_id: "s", input: padding }));
  assertEquals<unknown>([error.code, end.stream_id ?? null], ["overloaded", null]);
  held.finish();
  await client.close();
});

Deno.test("a socket with a token whose template has other privacy rules since a reload is closed with 1012, and its next turn is not sent", async () => {
  const key = await newSigningKey("k1");
  const upstream = wordStreams(() => saying("yes"));
  const privacy = privacyConfig(["find: [email], action: mask"]).replace("  default: p\n", "");
  const config = (developer = {}) =>
    tokenSecurity({}, { templates: [{ name: "admin" }, { name: "developer", ...developer }] }) +
    privacy + oneProvider("http://up.test");
  await using served = socketGateway(config(), upstream);
  await refreshKeys(served.gateway, [key]);
  await using ada = await served.open({ authorization: `Bearer ${await key.sign({ exp: 4e9 })}` });
  assertEquals((await ada.turn(create())).output, "yes");
  served.reload(config({ max_concurrent: 5 }));
  assertEquals((await ada.turn(create())).output, "yes");
  served.reload(config({ privacy: "p" }));
  ada.send(create({ input: "ada@example.com" }));
  assertEquals(await ada.text().catch(() => "nothing"), "nothing");
  assertEquals([await ada.closed, upstream.sent.length], [1012, 2]);
});

Deno.test("a turn of a token that waits while its template gets other privacy rules is not sent, and an idle socket is closed at once", async () => {
  const key = await newSigningKey("k1");
  const held = heldStream();
  const upstream = wordStreams((sent, count) => count === 1 ? held.answer(sent) : saying("yes"));
  const privacy = privacyConfig(["find: [email], action: mask"]).replace("  default: p\n", "");
  const config = (developer = {}) =>
    tokenSecurity({}, { templates: [{ name: "admin" }, { name: "developer", ...developer }] }) +
    privacy + oneProvider("http://up.test");
  await using served = socketGateway(config(), upstream);
  await refreshKeys(served.gateway, [key]);
  const authorization = `Bearer ${await key.sign({ exp: 4e9 })}`;
  await using busy = await served.open({ authorization });
  await using idle = await served.open({ authorization });
  busy.send(create());
  busy.send(create({ input: "ada@example.com" }));
  held.say("yes");
  const texts = [await busy.text()];
  served.reload(config({ privacy: "p" }));
  held.finish();
  // Until the socket is closed, or both turns have ended.
  while (texts.filter((text) => text.includes('"response.completed"')).length < 2) {
    const next = await busy.text().catch(() => null);
    if (next === null) break;
    texts.push(next);
  }
  assertEquals(upstream.sent.length, 1);
  assertEquals([await busy.closed, await idle.closed], [1012, 1012]);
});
