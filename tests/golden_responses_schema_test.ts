import { parseJson } from "../src/core/json/json.ts";
import { assert, assertEquals } from "./support/assert.ts";
import { goldenCases } from "./support/golden.ts";
import { assertValid } from "./support/schemas.ts";
import { assertShapes, readSharedEvents } from "./support/dashboard_events.ts";

const FOLDERS = ["responses_over_compat", "responses_over_messages", "responses_over_local"];

for (const folder of FOLDERS) {
  for (
    const { name, clientAnswer } of goldenCases(
      new URL(`golden/${folder}`, import.meta.url).pathname,
    )
  ) {
    Deno.test(`what the client gets has the published shape: ${folder}/${name}`, () => {
      const { status, headers, body } = clientAnswer;
      if (status !== 200) return assertValid("ErrorResponse", parseJson(body));
      if (headers["content-type"] !== "text/event-stream") {
        return assertValid("Response", parseJson(body));
      }
      assertShapes(body);
      const { events, resource } = readSharedEvents(body);
      assert(events.length > 0);
      const failed = resource.status === "failed";
      assertEquals(resource.error !== null, failed);
      assertEquals(resource.completed_at !== null, resource.status === "completed");
    });
  }
}
