import type { JsonDocument } from "../core/json.ts";
import { fault, refuse, type Result, success } from "../core/result.ts";
import { emptyDocument, readDocument } from "../formats/document.ts";
import { utf8Text } from "../formats/utf8.ts";

/** A request body may have this many bytes. */
export const BODY_LIMIT = 10 * 1024 * 1024;

/** The JSON object that a request carries. Its content type is not looked at. An optional one may be empty. */
export async function readBody(
  request: Request,
  isOptional: boolean,
): Promise<Result<JsonDocument>> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > BODY_LIMIT) return tooLarge();
  const bytes = await received(request, declared !== null);
  if (!bytes.ok) return bytes;
  if (isOptional && bytes.value.length === 0) return success(emptyDocument);
  const text = utf8Text(bytes.value);
  return text === null
    ? refuse("invalid_json", "The request body is not valid UTF-8.")
    : readDocument(text, bytes.value);
}

type Bytes = Uint8Array<ArrayBuffer>;

async function received(request: Request, isDeclared: boolean): Promise<Result<Bytes>> {
  try {
    // A declared length is kept to by the runtime.
    return isDeclared ? success(await request.bytes()) : await bounded(request);
  } catch {
    return fault("client_cancelled", "The client left before its request was complete.");
  }
}

async function bounded(request: Request): Promise<Result<Bytes>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.length;
    if (size > BODY_LIMIT) return tooLarge();
    pieces.push(piece);
  }
  return success(
    new Uint8Array(await new Blob(pieces.map((piece) => piece.slice())).arrayBuffer()),
  );
}

function tooLarge() {
  return refuse("request_too_large", "The request body is larger than 10 MiB; send less.");
}
