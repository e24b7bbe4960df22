import { assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";

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
