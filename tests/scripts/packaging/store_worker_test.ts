import { bundleFile, THREADS } from "../../../scripts/packaging/bundle.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("a bundled program opens its database in the thread that is bundled next to it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bundle-" });
  try {
    const worker = THREADS.find(({ file }) => file === "store_worker.js");
    assert(worker !== undefined);
    const places = { root: ROOT, folder, packages: `${folder}/none` };
    await bundleFile(places, worker);
    await bundleFile(places, { source: "tests/store/sqlite/program.ts", file: "main.js" });
    const path = `${folder}/state.db`;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--no-config", "--allow-read", "--allow-env"],
        ...[`--allow-write=${path}`, `${folder}/main.js`, "revoke", path],
      ],
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    assertEquals([text(stdout), text(stderr)], ["open\nprompt\n3000\n", ""]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
