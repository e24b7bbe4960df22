import type { Reply } from "../../core/reply.ts";
import { refuse, type Result, success } from "../../core/result.ts";
import type { Call } from "../../gateway/call.ts";
import { ownerOf } from "../../gateway/owner.ts";
import type { Snapshot } from "../../state/snapshots.ts";
import type { ApiRequest, Endpoint } from "../client_api.ts";
import { identifierProblem } from "../identifier.ts";
import { jsonReply } from "../json_reply.ts";
import { listOf, pageOf, queryProblem } from "../paging.ts";

/** A kept response and how it is called. */
interface Retained {
  readonly id: string;
  readonly account: string;
  readonly snapshot: Snapshot;
}

/** Only the upstream of a response could tell what these ask for. */
const RETRIEVE_ONLY_NATIVE = [
  "include",
  "include[]",
  "include_obfuscation",
  "starting_after",
] as const;

/** What can be done with a response once it is there (OpenAI API, Responses). */
export const lifecycle: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/v1/responses/:response_id",
    body: false,
    handle: (call, request) =>
      onRetained(call, request, ({ snapshot }) => {
        const { query } = request;
        const streams = query.has("stream") && query.get("stream") !== "false";
        const problem = queryProblem(query, [
          ...RETRIEVE_ONLY_NATIVE,
          ...streams ? ["stream"] : [],
        ]);
        return problem ?? jsonReply(snapshot.resource);
      }),
  },
  {
    method: "DELETE",
    path: "/v1/responses/:response_id",
    body: false,
    handle: (call, request) =>
      onRetained(call, request, ({ id, account }) => {
        call.vault.snapshots.delete(id);
        call.vault.bindings.response.unbind(id, account);
        return success({
          as: "answer",
          answer: { status: 204, headers: {}, body: new Uint8Array() },
        });
      }),
  },
  {
    method: "POST",
    path: "/v1/responses/:response_id/cancel",
    body: false,
    handle: (call, request) =>
      onRetained(
        call,
        request,
        () =>
          refuse(
            "unsupported_feature",
            "This response is over; only a running one can be cancelled.",
          ),
      ),
  },
  {
    method: "GET",
    path: "/v1/responses/:response_id/input_items",
    body: false,
    handle: (call, request) =>
      onRetained(call, request, ({ snapshot }) => inputItems(snapshot, request)),
  },
];

function inputItems({ input }: Snapshot, { query }: ApiRequest): Result<Reply> {
  const problem = queryProblem(query, ["include", "include[]"]);
  if (problem !== null) return problem;
  const page = pageOf(query);
  if (!page.ok) return page;
  const list = listOf(input, page.value);
  return list.ok ? jsonReply(list.value) : list;
}

function onRetained(
  call: Call,
  request: ApiRequest,
  operation: (retained: Retained) => Result<Reply>,
): Promise<Result<Reply>> {
  const retained = retainedBy(call, request.params.response_id ?? "");
  return Promise.resolve(retained.ok ? operation(retained.value) : retained);
}

function retainedBy(call: Call, id: string): Result<Retained> {
  const param = "response_id";
  const problem = identifierProblem(id, param);
  if (problem !== null) return problem;
  const { provider } = call.controls;
  const owned = ownerOf(call, { type: "response", id, param, provider });
  if (!owned.ok) return owned;
  const owner = owned.value?.owner ?? null;
  const snapshot = owner === null ? undefined : call.vault.snapshots.get(id);
  return owner === null || snapshot === undefined
    ? refuse(
      "response_not_found",
      "There is no such response; it may be too old, deleted, or not stored.",
      param,
    )
    : success({ id, account: owner.account, snapshot });
}
