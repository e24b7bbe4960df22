import type { Failure } from "../../core/failure/failure.ts";
import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import type { EarlyStream } from "../../call/inference.ts";
import { protocolOf } from "../../routing/ownership.ts";
import { commentKeepAlive } from "../generate/keep_alive.ts";
import type { Creation } from "./creation.ts";
import { codedMessage, responseError } from "./generate/error_code.ts";
import { OPENING_EVENTS } from "./generate/numbering.ts";
import { newResourceBuilder } from "./generate/resource.ts";

/**
 * Returns what a Responses stream says before a candidate has responded: its opening, with the
 * requested model, if the gateway generates the response in any case. The provider chooses the ID
 * of a native one, so that comments alone come before it, and over a WebSocket nothing.
 */
export function newEarlyResponse(
  { call: { world }, request, identities, hidesErrors: isSocket }: Creation,
): EarlyStream {
  let isKnown = false;

  function generated() {
    const { id, created, numbering } = identities.keep();
    const { model } = request;
    const made = newResourceBuilder({
      id,
      created,
      model,
      request,
      newId: (prefix) => newId(prefix, world),
      unix: () => world.unix(),
    });
    const state = { model, completedAt: null, incompleteReason: null, output: [], usage: null };
    const record = (type: string, response: JsonObject): StreamRecord => ({
      event: type,
      data: JSON.stringify({ type, response }),
      raw: null,
    });
    const begun = (type: string) =>
      record(type, made({ ...state, status: "in_progress", error: null }));
    return {
      numbering,
      opening: () => OPENING_EVENTS.map(begun),
      progress: () => begun("response.in_progress"),
      failed(failure: Failure): StreamRecord {
        const error = responseError(failure, codedMessage(failure));
        return record("response.failed", made({ ...state, status: "failed", error }));
      },
    };
  }

  return {
    begin(left) {
      if (left.some(({ target }) => protocolOf(target.wire) === "responses")) {
        return isSocket ? null : [commentKeepAlive()];
      }
      isKnown = true;
      const { numbering, opening } = generated();
      return numbering.number(opening());
    },
    keepAlive() {
      if (!isKnown) return commentKeepAlive();
      const { numbering, progress } = generated();
      return numbering.sign(progress);
    },
    fail(failure) {
      const { numbering, opening, failed } = generated();
      return numbering.number([...opening(), failed(failure)]);
    },
  };
}
