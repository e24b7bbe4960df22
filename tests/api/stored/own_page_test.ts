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

Deno.test("the owners of many objects of a list are looked up in pieces of 1,000, each in a turn", async () => {
  const data = Array.from({ length: 2_500 }, (_, at) => ({ id: `x${at}` }));
  const calls = await gateway(OWNERS, () => ({ object: "list", data, has_more: false }));
  const held = heldTurns("rest");
  const lookups: number[] = [];
  const { objects } = calls.state;
  const { chat_completion: owners } = objects.owners;
  const watched = {
    ...owners,
    findBindings(ids: readonly string[]) {
      lookups.push(ids.length);
      return owners.findBindings(ids);
    },
  };
  Object.assign(calls.state, {
    turns: held.turns,
    objects: { ...objects, owners: { ...objects.owners, chat_completion: watched } },
  });
  const answer = calls.get(PATH, ADA);
  for (const before of [[], [1_000], [1_000, 1_000]]) {
    await held.waits(1);
    assertEquals(lookups, before);
    held.begin();
  }
  assertEquals((await answer).json.data, []);
  assertEquals(lookups, [1_000, 1_000, 500]);
});

Deno.test("the objects of a page of 256 KiB are looked up and written in a turn each", async () => {
  const data = [{ id: "a1", note: "x".repeat(256 * 1024) }, { id: "b1" }];
  const page = { object: "list", data, has_more: false };
  async function largeTurns(security: string): Promise<number> {
    const calls = await gateway(OWNERS, () => page, security);
    const held = heldTurns();
    Object.assign(calls.state, { turns: held.turns });
    assertEquals((await calls.get(PATH, ADA)).status, 200);
    return held.kinds.filter((kind) => kind === "large").length;
  }
  const unchanged = await largeTurns(twoKeys(", isolate_clients: false"));
  assertEquals(await largeTurns(twoKeys()), unchanged + 2);
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
