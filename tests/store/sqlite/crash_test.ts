import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { damageOf } from "./inspect.ts";
import { ROOMY } from "./program.ts";
import { startProcess } from "./process.ts";
import { withFile } from "./store.ts";

const KILLS_COUNT = 3;

/** Most lines that a process prints before it is killed. */
const MAX_LINES = 400;

Deno.test("what the store has acknowledged is there after its process was killed at any time; of the calls only those of its last transactions are not counted", async () => {
  await withFile(async ({ path, open }) => {
    const acknowledged: string[] = [];
    let begun = 0;
    for (let kill = 0; kill < KILLS_COUNT; kill++) {
      const { child, out } = startProcess(["charge", path, `run${kill}`]);
      const lines = 1 + Math.floor(Math.random() * MAX_LINES);
      assert(await out.until(new RegExp(`^open\n(?:.*\n){${lines}}`)) !== null, "it writes");
      child.kill("SIGKILL");
      await child.stdin.close();
      const text = await out.rest();
      assertEquals((await child.status).signal, "SIGKILL");
      const whole = text.slice(0, text.lastIndexOf("\n")).split("\n").slice(1);
      assert(whole.length >= lines);
      acknowledged.push(...whole);
      // At most four calls are charged at a time.
      begun += whole.length + 4;

      const store = await open({}, ROOMY);
      for (const id of acknowledged) {
        const found = await stored(store.objects.responses.find(id));
        assertEquals(found?.snapshot?.resource.id, id);
        assertEquals(found?.snapshot?.input, [{ id: "shared", type: "x" }]);
        const [output] = Array.isArray(found?.snapshot?.resource.output)
          ? found.snapshot.resource.output
          : [];
        assertEquals(output, { id: `item ${id}`, type: "message", text: id.repeat(50) });
      }
      const spent = await store.quotas.spent(["a"]);
      assert(spent.ok);
      const counted = spent.value.get("a")?.get("usd d:1") ?? 0;
      const limits = `${acknowledged.length} ${counted} ${begun}`;
      assert(counted >= acknowledged.length && counted <= begun, limits);
      await store.close();
      assertEquals(damageOf(path), []);
    }
  });
});
