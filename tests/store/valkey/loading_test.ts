import { assert, assertEquals } from "../../support/assert.ts";

const PROGRAM = new URL("print_loaded.ts", import.meta.url).pathname;

/** Returns the number of files of the library that a gateway with this state has loaded. */
async function loadedFiles(state: string): Promise<number> {
  const config = `
providers:
  local: { type: local, base_url: "http://127.0.0.1:1" }
routing:
  routes:
    - name: main
      targets: [{ provider: local }]
${state}`;
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", PROGRAM, config],
  });
  const { stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout).trim();
  assert(/^\d+$/.test(text), new TextDecoder().decode(stderr));
  return Number(text);
}

Deno.test("the library for Valkey is loaded only by a gateway that has the store valkey", async () => {
  assertEquals(await loadedFiles(""), 0);
  assertEquals(await loadedFiles("state: { store: memory }"), 0);
  assert(
    await loadedFiles("state: { store: valkey, valkey: { url: 'valkey://127.0.0.1:1' } }") > 0,
  );
});
