import { isObject, type JsonObject } from "../../core/json.ts";
import type { Call } from "../../gateway/call.ts";
import type { Target } from "../../wires/wire.ts";
import { keptItem } from "../kept_item.ts";
import type { Context } from "./history.ts";
import type { ResponsesRequest } from "./request.ts";

/**
 * Keeps a translated response that has reached its end: itself and its owner unless the request says
 * `store: false`, and a completed one in its conversation in any case.
 */
export function retain(
  call: Call,
  request: ResponsesRequest,
  context: Context,
  target: Target,
  resource: JsonObject,
): void {
  const { conversation } = context;
  const isCompleted = resource.status === "completed";
  if (!request.store && conversation === null) return;
  const added = context.added.map(({ item }) => keptItem(item, call.world));
  if (request.store && (isCompleted || resource.status === "incomplete")) {
    store(call, context, target, resource, added);
  }
  if (conversation === null || !isCompleted || !Array.isArray(resource.output)) return;
  // One that has been deleted or filled up meanwhile gets nothing: the answer is given all the same.
  call.vault.conversations.append(conversation, [...added, ...resource.output.filter(isObject)]);
}

function store(
  call: Call,
  { history, asked }: Context,
  { provider, model }: Target,
  resource: JsonObject,
  added: readonly JsonObject[],
): void {
  const { id } = resource;
  if (typeof id !== "string") return;
  const { snapshots, bindings } = call.vault;
  if (!snapshots.keep(id, { resource, input: [...history, ...added] })) return;
  bindings.response.bind(id, {
    provider: provider.id,
    account: provider.account,
    origin: {
      route: call.report.route ?? "",
      model,
      asked,
      protocol: "chat_completions",
      hasSnapshot: true,
    },
  });
}
