import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

const PROGRAM = new URL("print_loaded.ts", import.meta.url).pathname;

function configWith(state: string): string {
  return `
providers:
  local: { type: local, base_url: "http://127.0.0.1:1" }
routing:
  routes:
    - name: main
      targets: [{ provider: local }]
${state}`;
}

/** Returns the numbers of files of the library that are loaded after each of these gateways. */
async function loadedFiles(...states: readonly string[]): Promise<readonly number[]> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", PROGRAM, ...states.map(configWith)],
  });
  const { stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout).trim();
  assertMatch(text, /^[\d\n]+$/, new TextDecoder().decode(stderr));
  return text.split("\n").map(Number);
}

Deno.test("the library for Valkey is loaded only by a gateway that has the store valkey", async () => {
  const [unset, memory, valkey, ...others] = await loadedFiles(
    "",
    "state: { store: memory }",
    "state: { store: valkey, valkey: { url: 'valkey://127.0.0.1:1' } }",
  );
  assertEquals([unset, memory, others.length], [0, 0, 0]);
  assert((valkey ?? 0) > 0);
});
