import { endOfGrace } from "../../src/cli/key_rotate.ts";
import { parseConfig } from "../../src/config/load.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { ran } from "./test_terminal.ts";

const DAY_MS = 86_400_000;

async function rotate(key: string, ...args: string[]) {
  const path = await Deno.makeTempFile({ suffix: ".yaml" });
  await Deno.writeTextFile(
    path,
    `security: {enabled: true, api_key: {keys: [${key}]}}\n${oneProvider("http://127.0.0.1")}`,
  );
  const result = await ran(["key", "rotate", ...args, "--config", path]);
  await Deno.remove(path);
  return result;
}

/** The keys of a file with the printed lines. */
function keysIn(out: string) {
  const lines = out.slice(out.indexOf("      - name:"));
  const loaded = parseConfig(
    `security:\n  enabled: true\n  api_key:\n    keys:\n${lines}${oneProvider("http://127.0.0.1")}`,
    {},
  );
  assert(loaded.ok);
  assertEquals(loaded.warnings, []);
  return loaded.config.security.api_key.keys;
}

Deno.test("the lines of a rotated key load, have a new digest, and keep the old one for whole days", async () => {
  const { code, out, err } = await rotate("{name: a, value: secret-of-a}", "a", "--grace", "3d");
  assertEquals([code, err], [0, ""]);
  assert(!out.includes("secret-of-a"));
  const [key] = keysIn(out);
  assertEquals([key?.name, key?.previous.length], ["a", 1]);
  assertEquals(
    key?.previous[0]?.sha256,
    await sha256("secret-of-a"),
  );
  assert(key?.sha256 !== key?.previous[0]?.sha256);
  const leftMs = Date.parse(key?.previous[0]?.until ?? "") - Date.now();
  assert(leftMs >= 3 * DAY_MS - 1_000 && leftMs <= 4 * DAY_MS, String(leftMs));
});

Deno.test("the grace has whole days of the time zone, also over days of 23 and of 25 hours", () => {
  // In Berlin the clocks go back on 2026-10-25, and forward on 2027-03-28.
  for (
    const [now, until] of [
      ["2026-10-25T00:30+02:00", "2026-10-27"],
      ["2026-10-24T23:30+02:00", "2026-10-26"],
      ["2027-03-27T23:30+01:00", "2027-03-29"],
      ["2027-03-28T00:30+01:00", "2027-03-30"],
    ] as const
  ) assertEquals(endOfGrace("Europe/Berlin", Date.parse(now), 1), until, now);
});

Deno.test("a second rotation keeps the two secrets that are accepted the longest", async () => {
  const old = ["2027-01-01", "2027-02-01"].map((until, at) =>
    `{sha256: ${"ab".charAt(at).repeat(64)}, until: ${until}}`
  );
  const { out } = await rotate(
    `{name: a, sha256: ${"f".repeat(64)}, previous: [${old.join(", ")}]}`,
    "a",
  );
  assertEquals(keysIn(out)[0]?.previous.map(({ sha256 }) => sha256?.[0]), ["f", "b"]);
});

Deno.test("an unknown key and a grace that is no number of days are refused", async () => {
  const unknown = await rotate("{name: a, value: s}", "b");
  assertEquals(unknown.code, 1);
  assertStringIncludes(unknown.err, "There is no client key b.");
  for (const grace of ["3", "0d", "1h", "-1d"]) {
    assertEquals((await rotate("{name: a, value: s}", "a", "--grace", grace)).code, 2, grace);
  }
});

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(bytes).toHex();
}
