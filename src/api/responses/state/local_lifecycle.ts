import type { Refusal } from "../../../core/failure/failure.ts";
import type { Reply } from "../../../core/stream/reply.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { mayUseUnknown } from "../../../routing/ownership.ts";
import type { Snapshot } from "../../../store/snapshots.ts";
import type { ApiRequest } from "../../client_api.ts";
import { storedReply } from "../../stored/json_reply.ts";
import { encodePage, parsePage, queryProblem } from "../../stored/paging.ts";

/** A response in the gateway's own store, with its ID and owner. */
export interface LocalResponse {
  readonly id: string;
  readonly account: string;
  readonly snapshot: Snapshot;
}

/** Operation on a response in the gateway's own store. */
export type Operation = (
  call: Call,
  request: ApiRequest,
  response: LocalResponse,
) => Result<Reply> | Promise<Result<Reply>>;

/** Query parameters that only the upstream of a response can serve. */
const RETRIEVE_ONLY_NATIVE = [
  "include",
  "include[]",
  "include_obfuscation",
  "starting_after",
] as const;

/** Returns a stored response. */
export function retrieve(
  _call: Call,
  { query }: ApiRequest,
  { snapshot }: LocalResponse,
): Result<Reply> {
  const streams = query.has("stream") && query.get("stream") !== "false";
  const problem = queryProblem(query, [...RETRIEVE_ONLY_NATIVE, ...streams ? ["stream"] : []]);
  return problem ?? storedReply(snapshot.resource);
}

/** Deletes a stored response; the reply has no body. */
export async function remove(
  call: Call,
  _request: ApiRequest,
  { id, account }: LocalResponse,
): Promise<Result<Reply>> {
  const unbound = await call.state.objects.responses.unbind(id, account, call.caller);
  if (!unbound.ok) return unbound;
  if (!unbound.value) return unknownResponse(call);
  return success({
    kind: "whole",
    response: { status: 204, headers: {}, body: new Uint8Array() },
  });
}

/** Refuses the cancellation, because a stored response is always finished. */
export function cancel(): Result<Reply> {
  return refuse(
    "unsupported_feature",
    "This response is over; only a running one can be cancelled.",
  );
}

/** Lists the input items of a stored response, newest first unless the query sets another order. */
export function inputItems(
  _call: Call,
  { query }: ApiRequest,
  { snapshot }: LocalResponse,
): Result<Reply> {
  const problem = queryProblem(query, ["include", "include[]"]);
  if (problem !== null) return problem;
  const page = parsePage(query);
  if (!page.ok) return page;
  const list = encodePage(snapshot.input, page.value);
  return list.ok ? storedReply(list.value) : list;
}

/** Returns the refusal of an ID for which no response exists, or none that the client may see. */
export function unknownResponse(call: Call): Failed<Refusal> {
  const unknown = "There is no such response here; it may be too old, deleted, or not stored.";
  const advice = " If a provider stores it, name that provider with the X-Gateway-Provider header.";
  const message = mayUseUnknown(call) ? unknown + advice : unknown;
  return refuse("response_not_found", message, "response_id");
}
