import { parseMachine, runtimeTrouble } from "../../../scripts/packaging/runtime.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

/** The beginning of a file with these bytes at these places. */
function head(bytes: Readonly<Record<number, readonly number[]>>): Uint8Array<ArrayBuffer> {
  const found = new Uint8Array(4096);
  for (const [at, values] of Object.entries(bytes)) found.set(values, Number(at));
  return found;
}

const ELF = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1];
const MACH = [0xcf, 0xfa, 0xed, 0xfe];
const PE = { 0: [0x4d, 0x5a], 60: [0x80], 128: [0x50, 0x45, 0, 0, 0x64, 0x86] };

Deno.test("the platform of a runtime is read from its file header", () => {
  assertEquals(parseMachine(head({ 0: ELF, 18: [62] })), "linux-x64");
  assertEquals(parseMachine(head({ 0: ELF, 18: [183] })), "linux-arm64");
  assertEquals(parseMachine(head({ 0: [...MACH, 7, 0, 0, 1] })), "darwin-x64");
  assertEquals(parseMachine(head({ 0: [...MACH, 12, 0, 0, 1] })), "darwin-arm64");
  assertEquals(parseMachine(head(PE)), "win32-x64");
  for (const other of [{ 0: ELF, 18: [243] }, { 0: [0x4d, 0x5a], 60: [255, 255, 255, 255] }, {}]) {
    assertEquals(parseMachine(head(other)), null);
  }
  assertEquals(parseMachine(new Uint8Array(8)), null);
});

Deno.test("nothing is built on the runtime of another machine", async () => {
  const path = await Deno.makeTempFile();
  await Deno.writeFile(path, head({ 0: ELF, 18: [183] }));
  assertEquals(await runtimeTrouble(path, ["linux-arm64"]), null);
  assertEquals(
    await runtimeTrouble(path, ["linux-x64"]),
    "DENORT_BIN is the runtime of linux-arm64; the target is linux-x64.",
  );
  // One file cannot be the runtime of both.
  assertMatch(await runtimeTrouble(path, ["linux-arm64", "linux-x64"]) ?? "", /one --target/);
  await Deno.writeTextFile(path, "text");
  assertEquals(
    await runtimeTrouble(path, ["linux-x64"]),
    "DENORT_BIN is no runtime; the target is linux-x64.",
  );
  await Deno.remove(path);
  assertMatch(await runtimeTrouble(path, ["linux-x64"]) ?? "", /no file that can be read/);
});
