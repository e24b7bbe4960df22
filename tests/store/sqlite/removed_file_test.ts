import { operationProblem } from "../../../src/store/sqlite/problems.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { withFile } from "./store.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

Deno.test({
  name:
    "a file that is removed while it is used is an outage, because what is written would be lost",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFile(async ({ path, log, open }) => {
      const store = await open();
      const { responses } = store.objects;
      await stored(responses.bind("before", OWNER));
      await Deno.remove(path);
      assertEquals(await outcomeOf(responses.bind("after", OWNER)), "state_unavailable");
      assertEquals(await outcomeOf(store.ping()), "state_unavailable");
      assert(await stored(responses.findBinding("before")) !== null, "reads do not go on");
      assertEquals(log, [operationProblem("removed", path)]);
      await store.close();
    });
  },
});
