import { assert, assertEquals } from "../support/assert.ts";
import { assertShapes, readSharedEvents } from "../support/dashboard_events.ts";
import { testCuts } from "./cut_body.ts";

const PATH = "/v1/responses";

testCuts({
  path: PATH,
  init: {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", input: "Hi", stream: true }),
  },
  names: (wire, ending) => [
    `a response over ${wire} may be cut off anywhere (${ending})`,
    `a connection under a response over ${wire} may end anywhere (${ending})`,
  ],
  // Chat streams are cut off at more places; the framing and the wires are the same.
  steps: { clean: 19, reset: 41, connection: 97 },
  read(text) {
    const { ending, events, resource } = readSharedEvents(text);
    assert(typeof resource.id === "string");
    return { text, isComplete: ending === "complete", records: events };
  },
  check(gateway, whole) {
    assertShapes(whole.text);
    return async ({ text, isComplete, records }, where) => {
      if (records.length === 0) return;
      const count = gateway.reports.length + 1;
      const { id } = readSharedEvents(text).resource;
      const answer = await gateway.app(new Request(`http://gateway${PATH}/${id}`));
      await answer.body?.cancel();
      await gateway.reported(count);
      assertEquals(answer.status === 200, isComplete, where);
    };
  },
});
