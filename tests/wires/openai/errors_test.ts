import { isRefusal, statusOf } from "../../../src/core/failure/failure.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import { newNativeRelay } from "../../../src/api/responses/native/relay.ts";
import { newRelay } from "../../../src/api/chat/relay_stream.ts";
import type { StreamRecord } from "../../../src/core/stream/reply.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const idSource = { uuid: () => "00000000-0000-4000-8000-000000000001", unix: () => 1 };

/** Every reader of a stream that may begin with this error, over each protocol with its format. */
const READERS: Readonly<Record<string, () => (record: StreamRecord) => Result<unknown>>> = {
  "chat over compat": () => compat.newDecoder(idSource).push,
  "chat over responses": () => responses.newDecoder(idSource).push,
  "relayed chat": () =>
    newRelay({
      identity: { id: "a", object: "chat.completion.chunk", created: 1, model: "m" },
      includeUsage: false,
      extractsReasoning: false,
      idSource,
    }).push,
  "native responses": () =>
    newNativeRelay({
      expected: null,
      newId: () => "resp_1",
      unix: () => 1,
      model: "m",
      conversation: null,
      storesNothing: true,
    }).push,
};

/** Errors of the OpenAI API with the status of each. */
const ERRORS: readonly (readonly [error: JsonObject, status: number])[] = [
  [{ message: "Too long.", code: "context_length_exceeded" }, 400],
  [{ message: "Too long.", type: "invalid_request_error", code: null }, 400],
  [{ message: "Slow.", code: "rate_limit_exceeded" }, 429],
  [{ message: "Broken.", type: "server_error" }, 500],
  [{ message: "Teapot.", code: 418 }, 418],
  [{ message: "Unknown.", code: "other" }, 502],
];

Deno.test("an error before the first content of a stream has the same status over every protocol", () => {
  for (const [error, status] of ERRORS) {
    const data = JSON.stringify({ error });
    for (const [name, newReader] of Object.entries(READERS)) {
      const read = newReader()({ event: "error", data, raw: `event: error\ndata: ${data}\n\n` });
      assert(!read.ok && !isRefusal(read.failure), name);
      assertEquals(statusOf(read.failure), status, `${name} ${data}`);
      assertEquals(read.failure.upstream?.error.message, error.message, name);
    }
  }
});
