import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { StoredFile } from "../account.ts";
import { missingParameter } from "../field_checks.ts";
import { newApiError } from "../protocol.ts";
import { onStored, paginate, type RoutedCall, type RouteHandler } from "../routes.ts";
import { type Answer, notFound, readJsonBody } from "../sim_call.ts";
import { readForm } from "./model_call.ts";

/** Time until a pending upload expires, in seconds. */
const UPLOAD_LIFETIME_S = 3_600;

const PAGES = { defaultOrder: "desc", maxLimit: 10_000 } as const;

/** Handlers of files, batches and uploads, by method and path. */
export const FILE_ROUTES: readonly (readonly [string, RouteHandler])[] = [
  ["POST /files", createFile],
  ["GET /files", (call) => listed(call.account.files.values(), call)],
  ["GET /files/:id", onFile((_, { resource }) => Response.json(resource))],
  ["DELETE /files/:id", onFile(deleteFile)],
  ["GET /files/:id/content", onFile((_, { content }) => bytesResponse(content))],
  ["POST /batches", createBatch],
  ["GET /batches", (call) => listed(call.account.batches.values(), call)],
  ["GET /batches/:id", onBatch((_, { resource }) => Response.json(resource))],
  ["POST /batches/:id/cancel", onBatch(cancelBatch)],
  ["POST /uploads", createUpload],
  ["POST /uploads/:id/parts", onUpload(addPart)],
  ["POST /uploads/:id/complete", onUpload(completeUpload)],
  ["POST /uploads/:id/cancel", onUpload(cancelUpload)],
];

function bytesResponse(content: Uint8Array<ArrayBuffer>): Response {
  return new Response(content, { headers: { "content-type": "application/octet-stream" } });
}

function listed(stored: readonly StoredFile[], { query }: RoutedCall): Answer {
  return paginate(stored.map(({ resource }) => resource), query, PAGES);
}

type Act = (call: RoutedCall, stored: StoredFile) => Answer | Promise<Answer>;

function onFile(act: Act): RouteHandler {
  return onStored(({ files }) => files, "File", act);
}

function onBatch(act: Act): RouteHandler {
  return onStored(({ batches }) => batches, "Batch", act);
}

function onUpload(act: Act): RouteHandler {
  return onStored(({ uploads }) => uploads, "Upload", act);
}

async function createFile(call: RoutedCall): Promise<Answer> {
  const form = await readForm(call);
  const file = form?.get("file");
  const purpose = form?.get("purpose");
  if (!(file instanceof File)) return missingParameter("file");
  if (typeof purpose !== "string") return missingParameter("purpose");
  const stored = newFile(call, file.name, purpose, await file.bytes());
  return Response.json(stored.resource);
}

function newFile(
  { account, deps }: RoutedCall,
  filename: string,
  purpose: string,
  content: Uint8Array<ArrayBuffer>,
): StoredFile {
  const id = newId("file-", deps);
  const about = { bytes: content.length, filename, purpose, status: "processed" };
  const file = { resource: { id, object: "file", created_at: deps.unix(), ...about }, content };
  account.files.set(id, file);
  return file;
}

function deleteFile({ account }: RoutedCall, { resource: { id = "" } }: StoredFile): Response {
  account.files.delete(String(id));
  return Response.json({ id, object: "file", deleted: true });
}

/** Completes a batch at once: its results are the lines of its input. */
async function createBatch(call: RoutedCall): Promise<Answer> {
  const body = await readJsonBody(call.httpRequest);
  const { input_file_id: input, endpoint, completion_window } = body ?? {};
  const file = typeof input === "string" ? call.account.files.get(input) : undefined;
  if (file === undefined) return notFound("File", String(input));
  if (typeof endpoint !== "string") return missingParameter("endpoint");
  const output = newFile(call, "output.jsonl", "batch_output", file.content);
  const id = newId("batch_", call.deps);
  const resource: JsonObject = {
    id,
    object: "batch",
    endpoint,
    input_file_id: input ?? null,
    completion_window: completion_window ?? "24h",
    status: "completed",
    created_at: call.deps.unix(),
    output_file_id: output.resource.id ?? null,
    error_file_id: null,
  };
  call.account.batches.set(id, { resource, content: new Uint8Array() });
  return Response.json(resource);
}

function cancelBatch({ account }: RoutedCall, stored: StoredFile): Response {
  const resource = { ...stored.resource, status: "cancelled" };
  account.batches.set(String(stored.resource.id), { ...stored, resource });
  return Response.json(resource);
}

async function createUpload(call: RoutedCall): Promise<Answer> {
  const body = await readJsonBody(call.httpRequest);
  const { filename, purpose, bytes } = body ?? {};
  if (typeof filename !== "string") return missingParameter("filename");
  const id = newId("upload_", call.deps);
  const created = call.deps.unix();
  const resource = {
    id,
    object: "upload",
    created_at: created,
    expires_at: created + UPLOAD_LIFETIME_S,
    filename,
    bytes: typeof bytes === "number" ? bytes : 0,
    purpose: String(purpose),
    status: "pending",
  };
  call.account.uploads.set(id, { resource, content: new Uint8Array() });
  return Response.json(resource);
}

async function addPart(call: RoutedCall, { resource, content }: StoredFile): Promise<Answer> {
  const data = (await readForm(call))?.get("data");
  if (!(data instanceof File)) return missingParameter("data");
  const all = new Uint8Array(await new Blob([content, data]).arrayBuffer());
  call.account.uploads.set(String(resource.id), { resource, content: all });
  const id = newId("part_", call.deps);
  const part = { id, object: "upload.part", upload_id: resource.id ?? null };
  return Response.json({ ...part, created_at: call.deps.unix() });
}

function completeUpload(call: RoutedCall, { resource, content }: StoredFile): Answer {
  if (resource.status !== "pending") return newApiError("The upload is not pending.");
  const file = newFile(call, String(resource.filename), String(resource.purpose), content);
  const completed = { ...resource, status: "completed", file: file.resource };
  call.account.uploads.set(String(resource.id), {
    resource: completed,
    content: new Uint8Array(),
  });
  return Response.json(completed);
}

function cancelUpload({ account }: RoutedCall, { resource }: StoredFile): Response {
  const cancelled = { ...resource, status: "cancelled" };
  account.uploads.set(String(resource.id), { resource: cancelled, content: new Uint8Array() });
  return Response.json(cancelled);
}
