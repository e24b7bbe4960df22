import { parseJson } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";

function config(key: string): string {
  return `
providers:
  up: {type: compat, base_url: "http://up.test", api_key: ${key}}
routing:
  routes: [{name: main, targets: [{provider: up}]}]
retry: {enabled: false}
`;
}

testOverStores(
  "an open socket with an older account removes nothing that was stored for the new account",
  async () => {
    await using served = socketGateway(config("old"), wordStreams(() => saying("yes")));
    await using before = await served.open();
    await before.turn(create());
    served.reload(config("new"));
    await using after = await served.open();
    const kept = await after.turn(create({ store: true }));
    const refers = await before.turn(
      create({ input: [{ type: "item_reference", id: "msg_none" }] }),
    );
    assertEquals<unknown>(refers.error.code, "invalid_value");
    const shown = await fetch(`${served.url}/v1/responses/${kept.id}`);
    assertEquals([shown.status, parseJson(await shown.text()) !== undefined], [200, true]);
  },
);
