import { assert, assertEquals } from "../../support/assert.ts";
import { newSigningKey, NOW_S } from "../../support/signing_key.ts";
import { clients, CLOCK, KEY, refresh } from "./clients.ts";

Deno.test("a token that is refused by a key of before a refresh is verified again by the keys after it", async () => {
  const { made, check } = await clients();
  const next = await newSigningKey("k1", "EdDSA");
  const token = await next.sign();
  // Verifications that wait for their turn still have the keys of before.
  const others = await Promise.all(
    Array.from({ length: 200 }, (_, at) => KEY.sign({ jti: String(at) })),
  );
  const waiting = [...others.map((other) => check(other)), check(token)];
  await refresh(made.keySets, next);
  assertEquals((await Promise.all(waiting)).at(-1)?.kind, "signature");
  assertEquals((await check(token)).kind, "client");
});

Deno.test("a token that had ended by a clock set forward is accepted once the clock is set back", async () => {
  const { check } = await clients();
  const forward = { ...CLOCK, wall: () => (NOW_S + 7_200) * 1000 };
  const [fresh, known] = [await KEY.sign(), await KEY.sign({ jti: "known" })];
  assertEquals((await check(known)).kind, "client");
  for (const token of [fresh, known]) {
    assertEquals((await check(token, forward)).kind, "expired");
    assertEquals((await check(token)).kind, "client");
  }
});

Deno.test("at most 10,000 verified and 1,000 refused tokens are remembered", async () => {
  const { made } = await clients();
  // A token is known by its digest: one signature serves for all.
  const all = async (token: string, count: number) => {
    const kinds = new Set<string>();
    for (let at = 0; at < count; at++) {
      kinds.add((await made.authenticate(token, `digest ${at} of ${token}`, CLOCK)).kind);
    }
    return [...kinds];
  };
  assertEquals(await all(await KEY.sign(), 10_010), ["client"]);
  assertEquals(made.size, { verified: 10_000, refused: 0 });
  assertEquals(await all(await KEY.sign({ aud: "other" }), 1_010), ["audience"]);
  assertEquals(made.size, { verified: 10_000, refused: 1_000 });
});

Deno.test("a token of 16384 characters is decoded, and a longer one or one with a header above 2048 is not", async () => {
  const { check } = await clients();
  const padded = (length: number) => KEY.sign({ pad: "x".repeat(length) });
  const bare = (await padded(0)).length;
  const pad = Math.floor((16_384 - bare) * 3 / 4);
  let longest = await padded(pad);
  for (let more = 1; longest.length < 16_384; more++) {
    const next = await padded(pad + more);
    if (next.length > 16_384) break;
    longest = next;
  }
  assert(longest.length > 16_380, String(longest.length));
  assertEquals((await check(longest)).kind, "client");
  assertEquals((await check(await padded(pad + 8))).kind, "too_long");
  assertEquals((await check(await KEY.sign({}, { pad: "x".repeat(1_400) }))).kind, "client");
  assertEquals((await check(await KEY.sign({}, { pad: "x".repeat(1_600) }))).kind, "malformed");
});

Deno.test("more than 32 tokens wait for their verification in order, and beyond 1,000 one is refused", async () => {
  const { check } = await clients();
  const tokens = [];
  for (let at = 0; at < 1_040; at++) tokens.push(await KEY.sign({ jti: String(at) }));
  const results = await Promise.all(tokens.map((token) => check(token)));
  const kinds = results.map(({ kind }) => kind);
  assertEquals(kinds.filter((kind) => kind === "client").length, 1_032);
  assertEquals(new Set(kinds.slice(1_032)), new Set(["busy"]));
});

Deno.test("no text of a verified or refused token stays in the memory of the process", async () => {
  const path = await Deno.makeTempFile({ suffix: ".heapsnapshot" });
  const program = new URL("held_tokens.ts", import.meta.url).pathname;
  const args = ["run", "--no-check", "-A", program, path];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const { size, backwards } = JSON.parse(new TextDecoder().decode(stdout));
  const heap = await Deno.readTextFile(path);
  await Deno.remove(path);
  assertEquals(size, { verified: 1, refused: 1 });
  for (const text of backwards) {
    assert(heap.includes(text), "the snapshot has the texts of this process");
    assert(!heap.includes([...text].toReversed().join("")));
  }
});
