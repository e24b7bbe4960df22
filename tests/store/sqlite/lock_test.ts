import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { assertEquals } from "../../support/assert.ts";
import { withFile } from "./store.ts";

/** A thread that starts processes, several at once. */
const STARTING = `
for (let started = 0; started < 10; started++) {
  await Promise.all(Array.from({ length: 10 }, () => new Deno.Command("true").output()));
}
self.postMessage("ended");
`;

Deno.test({
  name: "a closed file can be opened again at once while another thread starts processes",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withFile(async ({ path }) => {
      const url = URL.createObjectURL(new Blob([STARTING], { type: "text/javascript" }));
      const thread = new Worker(url, { type: "module" });
      let isEnded = false;
      thread.onmessage = () => {
        isEnded = true;
      };
      const refusals: unknown[] = [];
      while (!isEnded) {
        for (let opened = 0; opened < 20; opened++) {
          try {
            openDatabase({ path, synchronous: "normal", maxPages: null }).close();
          } catch (error) {
            refusals.push(error);
          }
        }
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      thread.terminate();
      URL.revokeObjectURL(url);
      assertEquals(refusals, []);
    }),
});
