import { refuseStored } from "./stored_state.ts";
import type { Handler } from "../client_api.ts";

/**
 * Returns the handler of an endpoint whose objects or owners the gateway stores. A gateway that
 * stores nothing refuses each request: it could not say which client an object belongs to.
 */
export function needsStore(handle: Handler): Handler {
  return (call, request) => {
    const refused = refuseStored(
      call,
      "This gateway stores no objects and no owners of objects (state.store is none); " +
        "set state.store to memory, sqlite or valkey to use this endpoint.",
    );
    return refused === null ? handle(call, request) : Promise.resolve(refused);
  };
}
