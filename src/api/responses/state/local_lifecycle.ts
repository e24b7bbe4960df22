import type { Refusal } from "../../../core/failure.ts";
import type { Reply } from "../../../core/reply.ts";
import { type Failed, refuse, type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import type { Snapshot } from "../../../state/snapshots.ts";
import type { ApiRequest } from "../../client_api.ts";
import { jsonReply } from "../../json_reply.ts";
import { encodePage, parsePage, queryProblem } from "../../paging.ts";

/** A response that the gateway keeps itself, and how it is called. */
export interface Retained {
  readonly id: string;
  readonly account: string;
  readonly snapshot: Snapshot;
}

/** Does something with a response that the gateway keeps. */
export type Operation = (
  call: Call,
  request: ApiRequest,
  retained: Retained,
) => Result<Reply> | Promise<Result<Reply>>;

/** Only the upstream of a response could tell what these ask for. */
const RETRIEVE_ONLY_NATIVE = [
  "include",
  "include[]",
  "include_obfuscation",
  "starting_after",
] as const;

/** Shows a kept response. */
export function retrieve(
  _call: Call,
  { query }: ApiRequest,
  { snapshot }: Retained,
): Result<Reply> {
  const streams = query.has("stream") && query.get("stream") !== "false";
  const problem = queryProblem(query, [...RETRIEVE_ONLY_NATIVE, ...streams ? ["stream"] : []]);
  return problem ?? jsonReply(snapshot.resource);
}

/** Forgets a kept response; nothing is said about it. */
export async function remove(
  { state, caller }: Call,
  _request: ApiRequest,
  { id, account }: Retained,
): Promise<Result<Reply>> {
  const unbound = await state.objects.responses.unbind(id, account, caller);
  if (!unbound.ok) return unbound;
  if (!unbound.value) return unknownResponse();
  return success({
    as: "answer",
    answer: { status: 204, headers: {}, body: new Uint8Array() },
  });
}

/** A kept response is over: there is nothing to cancel. */
export function cancel(): Result<Reply> {
  return refuse(
    "unsupported_feature",
    "This response is over; only a running one can be cancelled.",
  );
}

/** Lists what a kept response was made of, the youngest first unless the query says otherwise. */
export function inputItems(
  _call: Call,
  { query }: ApiRequest,
  { snapshot }: Retained,
): Result<Reply> {
  const problem = queryProblem(query, ["include", "include[]"]);
  if (problem !== null) return problem;
  const page = parsePage(query);
  if (!page.ok) return page;
  const list = encodePage(snapshot.input, page.value);
  return list.ok ? jsonReply(list.value) : list;
}

/** Refuses an ID under which there is no response. */
export function unknownResponse(): Failed<Refusal> {
  return refuse(
    "response_not_found",
    "There is no such response here; it may be too old, deleted, or not stored. " +
      "If a provider keeps it, name that one with the X-Gateway-Provider header.",
    "response_id",
  );
}
