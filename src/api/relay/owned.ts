import { isExactId } from "../../core/ids.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import { requireCapability, requireNativeProvider } from "../../routing/capability.ts";
import {
  bindObject,
  findOwner,
  isHidden,
  mayUseUnknown,
  type Owned,
  type Reference,
  release,
} from "../../routing/ownership.ts";
import type { Place } from "../../call/inference.ts";
import { refuseBatch } from "../../access/permissions.ts";
import type { Creator, Owner } from "../../store/bindings.ts";
import { turnAmong } from "../../traffic/loop_turns.ts";
import type { Sender } from "../../wires/wire.ts";
import type { ApiRequest } from "../client_api.ts";
import { wrongField } from "../items/shape.ts";
import { spellingProblem } from "../stored/identifier.ts";
import { callNative, MAX_LIST_OBJECTS, type NativeCall } from "../stored/native_call.ts";
import { listOwned } from "../stored/owned_list.ts";
import { findOwnedPlace, unknownOwner } from "../stored/owned_place.ts";
import type { ObjectKind, OwnedEndpoint } from "./table.ts";

/**
 * Sends a request for objects that an upstream stores to the provider and the account that have
 * them.
 */
export async function sendOwned(
  call: Call,
  endpoint: OwnedEndpoint,
  request: ApiRequest,
): Promise<Result<Reply>> {
  switch (endpoint.does) {
    case "list":
      return await list(call, endpoint, request);
    case "create": {
      const refused = endpoint.object === "batch" ? refuseBatch(call.client.key) : null;
      if (refused !== null) return refused;
      const place = await placeOfNew(call, endpoint, request);
      return place.ok
        ? await callNative(call, { ...nativeCall(call, endpoint, request), ...place.value })
        : place;
    }
    case "retrieve":
    case "delete":
    case "act": {
      const param = `${endpoint.object}_id` as const;
      const id = request.params[param] ?? "";
      const place = await findOwnedPlace(call, {
        type: "relayed_object",
        id,
        boundId: boundId(endpoint.object, id),
        param,
        capability: endpoint.family,
        noun: endpoint.object,
        notFound: "object_not_found",
      });
      if (!place.ok) return place;
      const { provider, account, owner } = place.value;
      const native = nativeCall(call, endpoint, request, { id, owner });
      return await callNative(call, { ...native, provider, account });
    }
  }
}

/** The name under which the owner of an object is stored, because kinds have IDs of their own. */
function boundId(kind: ObjectKind, id: string): string {
  return `${kind}/${id}`;
}

type WithoutPlace = Omit<NativeCall, keyof Place>;

/** An existing object in the path of a request; its owner is null if it is not known. */
interface ExistingObject {
  readonly id: string;
  readonly owner: Owner | null;
}

/** Returns the call for an existing object, or for a new one. */
function nativeCall(
  call: Call,
  endpoint: OwnedEndpoint,
  { query, params, document, form }: ApiRequest,
  existing: ExistingObject | null = null,
): WithoutPlace {
  const id = existing?.id ?? null;
  const { method, object, does, body, returns = object } = endpoint;
  const path = endpoint.path.split("/").slice(2)
    .map((segment) => segment.startsWith(":") ? params[segment.slice(1)] ?? "" : segment);
  const text = document.text === "" && body === "optional" ? null : document.text;
  return {
    method,
    path,
    query,
    ...form !== undefined && { form },
    ...(body === "json" || body === "optional") && { body: text },
    isRetried: true,
    takesAnySuccess: true,
    ...does === "create" && { isCreation: true },
    ...does === "delete" && id !== null && { withoutBody: { id, object, deleted: true } },
    isValid(resource) {
      if (!isExactId(resource.id)) return false;
      if (id !== null && returns === object && resource.id !== id) return false;
      return (resource.object ?? returns) === returns &&
        (does !== "delete" || resource.deleted === true);
    },
    onComplete(resource, sender) {
      if (existing === null) return bindNew(call, object, resource, sender);
      if (does === "delete") {
        return release(call, "relayed_object", boundId(object, existing.id), sender.account.digest);
      }
      return existing.owner === null
        ? null
        : bindFiles(call, resource, sender, existing.owner.creator);
    },
    ...endpoint.answer === "bytes" && {
      // A client continues a download with the range that it lacks (RFC 9110, section 14.2).
      copiedHeaders: ["range", "if-range"],
      reader: {
        kind: "bytes",
        outcome: { resource: null, usage: null },
        isRange: call.headers.has("range"),
      } as const,
    },
  };
}

/** Binds a new object, and its files, to the account that has returned it and to the caller. */
async function bindNew(
  call: Call,
  kind: ObjectKind,
  resource: JsonObject,
  sender: Sender,
): Promise<Result<void>> {
  const id = boundId(kind, String(resource.id));
  const bound = await bindObject(call, "relayed_object", id, sender);
  return bound.ok ? await bindFiles(call, resource, sender, call.caller.name) : bound;
}

/**
 * Binds the files of a batch's results, and the file that an upload has become, to the account that
 * has returned them and to the creator of the batch or upload, also if another caller reads it.
 */
async function bindFiles(
  call: Call,
  { file, output_file_id, error_file_id }: JsonObject,
  sender: Sender,
  creator: Creator,
): Promise<Result<void>> {
  for (const id of [isObject(file) ? file.id : null, output_file_id, error_file_id]) {
    if (!isExactId(id)) continue;
    const bound = await bindObject(call, "relayed_object", boundId("file", id), sender, {
      creator,
    });
    if (!bound.ok) return bound;
  }
  return success(undefined);
}

/**
 * Returns the place of a new object: the account of the input file that it names, else the provider
 * that the client names, else the only capable one.
 */
async function placeOfNew(
  call: Call,
  endpoint: OwnedEndpoint,
  { document }: ApiRequest,
): Promise<Result<Place>> {
  const named = requestedModel(call, "");
  if (!named.ok) return named;
  const { family } = endpoint;
  const misspelled = spellingProblem(document.value, "input_file_id");
  if (misspelled !== null) return misspelled;
  const { input_file_id: input = null } = document.value;
  if (input !== null && typeof input !== "string") return wrongField("input_file_id", "a string");
  const owned = await findInput(call, input, named.value.provider);
  if (!owned.ok) return owned;
  if (owned.value !== null && owned.value.owner !== null) {
    const isNamed = named.value.provider !== null;
    const able = requireCapability(owned.value.provider, family, isNamed);
    return able.ok ? success(owned.value) : able;
  }
  if (input !== null && !mayUseUnknown(call)) return notFound(call, "file", "input_file_id");
  const provider = requireNativeProvider(call, named.value.provider, family);
  if (!provider.ok) return provider;
  // A file that the client may not see has no owner either, even if the provider is named.
  const seen = input === null ? null : await findInput(call, input, provider.value.id);
  if (seen !== null && !seen.ok) return seen;
  return seen?.value === null
    ? notFound(call, "file", "input_file_id")
    : success({ provider: provider.value, account: null });
}

/** Looks up the owner of an input file; null if the client may see none. */
function findInput(
  call: Call,
  file: string | null,
  provider: string | null,
): Promise<Result<Owned | null>> {
  return file === null
    ? Promise.resolve(success(null))
    : findOwner(call, reference("file", file, "input_file_id", { provider }));
}

function notFound(call: Call, kind: ObjectKind, param: Reference["param"]): Failed {
  return unknownOwner(call, { notFound: "object_not_found", noun: kind, param });
}

function reference(
  kind: ObjectKind,
  id: string,
  param: Reference["param"],
  { provider }: { readonly provider: string | null },
): Reference {
  return { type: "relayed_object", id: boundId(kind, id), param, provider };
}

async function list(
  call: Call,
  { object, family, path }: OwnedEndpoint,
  { query }: ApiRequest,
): Promise<Result<Reply>> {
  return await listOwned(call, {
    capability: family,
    type: "relayed_object",
    idOf: (id) => boundId(object, id),
    path: path.split("/").slice(2),
    query,
    isRetried: true,
    ...object === "batch" && { onPage: (page, sender) => bindResults(call, page, sender) },
  });
}

/**
 * Binds the files with the results of those batches of a page that have an owner whom the client
 * may see.
 */
async function bindResults(
  call: Call,
  { data }: JsonObject,
  sender: Sender,
): Promise<Result<void>> {
  const listed = Array.isArray(data) ? data.slice(0, MAX_LIST_OBJECTS).filter(isObject) : [];
  // Each once: a provider could name one batch very often.
  const batches = new Map(
    listed.flatMap((one) => isExactId(one.id) ? [[boundId("batch", one.id), one] as const] : []),
  );
  const { relayed_object: owners } = call.state.objects.owners;
  const bindings = await owners.findBindings([...batches.keys()]);
  // A list is served without the store: the files get their owner when their batch is read.
  if (!bindings.ok) return success(undefined);
  for (const [id, batch] of batches) {
    const binding = bindings.value.get(id) ?? null;
    if (binding?.kind !== "bound" || isHidden(call, binding)) continue;
    await turnAmong(call.turns, batches.size);
    const bound = await bindFiles(call, batch, sender, binding.owner.creator);
    if (!bound.ok) return bound;
  }
  return success(undefined);
}
