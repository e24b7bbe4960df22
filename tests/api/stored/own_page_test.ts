import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { COMPLETION, MESSAGES } from "../../support/chat_call.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { heldTurns } from "../../support/held_turns.ts";
import { nativeConfig, type NativeGateway, nativeGateway } from "../../support/native_gateway.ts";

const ADA = keyOf("ada"), BOB = keyOf("bob");
const PATH = "/chat/completions";
const PROVIDERS = nativeConfig({ first: { can: ["chat_completions_lifecycle"] } });

/**
 * A gateway on which the owners have each created their completions; the upstream lists `pages`.
 */
async function gateway(
  created: readonly (readonly [id: string, headers: Readonly<Record<string, string>>])[],
  pages: (after: string | null) => JsonObject | string,
  security = twoKeys(),
): Promise<NativeGateway> {
  let next = "";
  const calls = nativeGateway(security + PROVIDERS, ({ method, path }) => {
    if (method === "POST") return { body: { ...COMPLETION, id: next } };
    return { body: pages(new URL(path, "http://first").searchParams.get("after")) };
  });
  for (const [id, headers] of created) {
    next = id;
    const made = await calls.post(PATH, { model: "m", ...MESSAGES, store: true }, headers);
    assertEquals(made.status, 200, made.text);
  }
  return calls;
}

const MIXED = '{"object":"list", "data":[ {"id":"a1","n":1.0}, {"id":"b1"},\n{"id":"a2"},' +
  '{"id":"old"},{"no":"id"} ],"first_id":"a1","last_id":"old","has_more":true}';

const OWNERS = [["a1", ADA], ["a2", ADA], ["b1", BOB]] as const;

Deno.test("a list omits the objects of other keys and nothing else", async () => {
  const calls = await gateway(OWNERS, () => MIXED);
  assertEquals(
    (await calls.get(PATH, BOB)).text,
    '{"object":"list", "data":[{"id":"b1"},{"no":"id"}],' +
      '"first_id":"b1","last_id":null,"has_more":true}',
  );
  assertEquals(
    (await calls.get(PATH, ADA)).text,
    '{"object":"list", "data":[{"id":"a1","n":1.0},{"id":"a2"},{"no":"id"}],' +
      '"first_id":"a1","last_id":null,"has_more":true}',
  );
  const adopting = await gateway(OWNERS, () => MIXED, twoKeys("", ", adopt_unknown: true"));
  assertEquals(
    (await adopting.get(PATH, BOB)).text,
    '{"object":"list", "data":[{"id":"b1"},{"id":"old"},{"no":"id"}],' +
      '"first_id":"b1","last_id":null,"has_more":true}',
  );
});

const SHARED = twoKeys(", isolate_clients: false");

Deno.test("a list of more than 10,000 objects is too large if the owner of each is looked up", async () => {
  const page = (count: number) => ({
    object: "list",
    data: Array.from({ length: count }, (_, at) => ({ id: `x${at}` })),
    has_more: false,
  });
  assertEquals((await (await gateway(OWNERS, () => page(10_000))).get(PATH, ADA)).json.data, []);
  const tooLarge = await (await gateway(OWNERS, () => page(10_001))).get(PATH, ADA);
  assertEquals([tooLarge.status, tooLarge.error.code], [502, "upstream_response_too_large"]);
  const shared = await (await gateway(OWNERS, () => page(10_001), SHARED)).get(PATH, ADA);
  assertEquals(shared.status, 200);
});

Deno.test("a page of 256 KiB is written for the client in a further turn", async () => {
  const data = [{ id: "a1", note: "x".repeat(256 * 1024) }, { id: "b1" }];
  async function largeTurns(security = twoKeys()): Promise<number> {
    const calls = await gateway(OWNERS, () => ({ object: "list", data }), security);
    const held = heldTurns();
    Object.assign(calls.state, { turns: held.turns });
    assertEquals((await calls.get(PATH, ADA)).status, 200);
    return held.kinds.filter((kind) => kind === "large").length;
  }
  assertEquals(await largeTurns(), await largeTurns(SHARED) + 1);
});

Deno.test("a list without objects of other keys is forwarded unchanged, and so is each list without isolation", async () => {
  const own = '{"object":"list", "data":[ {"id":"a1","n":1.0} ],"has_more":false}\n';
  assertEquals((await (await gateway(OWNERS, () => own)).get(PATH, ADA)).text, own);
  const shared = await gateway(OWNERS, () => MIXED, twoKeys(", isolate_clients: false"));
  assertEquals((await shared.get(PATH, BOB)).text, MIXED);
  const open = await gateway([["a1", {}]], () => MIXED, "");
  assertEquals((await open.get(PATH)).text, MIXED);
});

function page(ids: readonly string[], hasMore: boolean): JsonObject {
  return {
    object: "list",
    data: ids.map((id) => ({ id })),
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    has_more: hasMore,
  };
}

Deno.test("a list skips pages without objects of the key", async () => {
  const pages: Readonly<Record<string, JsonObject>> = {
    null: page(["a1"], true),
    a1: page(["a2"], true),
    a2: page(["b1"], false),
  };
  const calls = await gateway(OWNERS, (after) => pages[String(after)] ?? {});
  const answer = await calls.get(`${PATH}?limit=1&order=asc`, BOB);
  assertEquals(answer.json, page(["b1"], false));
  assertEquals(calls.requests.slice(3).map(({ path }) => path), [
    `${PATH}?limit=1&order=asc`,
    `${PATH}?limit=100&order=asc&after=a1`,
    `${PATH}?limit=100&order=asc&after=a2`,
  ]);
});

Deno.test("a page that is larger because pages were skipped is cut to the limit of the client", async () => {
  const pages: Readonly<Record<string, JsonObject>> = {
    null: page(["a1"], true),
    a1: page(["a2", "b1", "b2"], false),
  };
  const owners = [...OWNERS, ["b2", BOB] as const];
  const calls = await gateway(owners, (after) => pages[String(after)] ?? {});
  assertEquals((await calls.get(`${PATH}?limit=1`, BOB)).json, page(["b1"], true));
});

Deno.test("a list without objects of the key ends with its last page, or can be continued after 100 pages", async () => {
  const calls = await gateway(OWNERS, () => page(["a1"], false));
  assertEquals((await calls.get(PATH, BOB)).json, page([], false));
  assertEquals(calls.requests.length, 4);
  const endless = await gateway(OWNERS, () => page(["a1"], true));
  assertEquals((await endless.get(PATH, BOB)).json, { ...page([], true), last_id: "a1" });
  assertEquals(endless.requests.length, 3 + 100);
});
