import type { EndpointFacts, RelayFamily, RequestType } from "../../core/endpoint.ts";

/** Path of a routed endpoint, which is its request type. */
export type RelayedPath = Extract<RequestType, `/v1/${string}`>;

/** A request for a model that any capable target of a route serves. */
export interface RoutedEndpoint {
  readonly kind: "routed";
  readonly path: RelayedPath;
  /** Other paths on which clients call it. */
  readonly aliases?: readonly `/${string}`[];
  readonly family: RelayFamily;
  readonly about: string;
  readonly body: "json" | "multipart" | "multipart or json";
  /**
   * Form of a response that is no event stream; `text` is JSON or text by its content type, `list`
   * an object or a list.
   */
  readonly answer: "json" | "list" | "text" | "bytes";
  /**
   * How an event stream ends: with `[DONE]`, or first with an event whose type ends in this word,
   * of which there is one for each requested image. Null if the endpoint has no streams.
   */
  readonly ends: "[DONE]" | ".completed" | ".done" | null;
  /** Whether the member or part `model` is required. */
  readonly model: "required" | "optional";
  /**
   * Billed units if the response reports no tokens; null for nothing, because moderations are
   * free at most providers. The cost of `tokens` is unknown without them.
   */
  readonly billed: "images" | "seconds" | "characters" | "tokens" | null;
  readonly operation: EndpointFacts["operation"];
}

/** Types of objects that an upstream stores for relayed endpoints. */
export type ObjectKind = "file" | "batch" | "upload";

/** An operation on objects that only their upstream stores. It has no model. */
export interface OwnedEndpoint {
  readonly kind: "owned";
  /** An operation that changes nothing is a GET. */
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: `/v1/${string}`;
  readonly family: RelayFamily;
  readonly about: string;
  readonly body: "json" | "optional" | "multipart" | "none";
  readonly answer: "json" | "bytes";
  readonly object: ObjectKind;
  /** `act` is any other operation on one object; it returns the object `returns`. */
  readonly does: "create" | "list" | "retrieve" | "delete" | "act";
  readonly returns?: string;
}

/** One relayed endpoint. */
export type RelayedEndpoint = RoutedEndpoint | OwnedEndpoint;

/** Every endpoint that is relayed to providers of type compat. A new one is a line here. */
// deno-fmt-ignore
export const RELAYED: readonly RelayedEndpoint[] = [
  { kind: "routed", path: "/v1/completions", family: "completions", body: "json", answer: "json", ends: "[DONE]", model: "required", billed: "tokens", operation: "text_completion", about: "Text completions, also as a stream." },
  { kind: "routed", path: "/v1/moderations", family: "moderations", body: "json", answer: "json", ends: null, model: "optional", billed: null, operation: null, about: "Classifies texts and images." },
  { kind: "routed", path: "/v1/rerank", aliases: ["/v2/rerank", "/rerank"], family: "rerank", body: "json", answer: "list", ends: null, model: "required", billed: "tokens", operation: null, about: "Orders documents by their relevance for a query." },
  { kind: "routed", path: "/v1/images/generations", family: "images", body: "json", answer: "json", ends: ".completed", model: "optional", billed: "images", operation: "generate_content", about: "Generates images, also as a stream of partial images." },
  { kind: "routed", path: "/v1/images/edits", family: "images", body: "multipart or json", answer: "json", ends: ".completed", model: "optional", billed: "images", operation: "generate_content", about: "Edits images in a multipart or JSON body, also as a stream of partial images." },
  { kind: "routed", path: "/v1/images/variations", family: "images", body: "multipart", answer: "json", ends: ".completed", model: "optional", billed: "images", operation: "generate_content", about: "Generates variations of an image." },
  { kind: "routed", path: "/v1/audio/speech", family: "audio", body: "json", answer: "bytes", ends: ".done", model: "required", billed: "characters", operation: "generate_content", about: "Speech of a text, as bytes or as a stream of events." },
  { kind: "routed", path: "/v1/audio/transcriptions", family: "audio", body: "multipart", answer: "text", ends: ".done", model: "required", billed: "seconds", operation: "generate_content", about: "Transcribes audio, also as a stream." },
  { kind: "routed", path: "/v1/audio/translations", family: "audio", body: "multipart", answer: "text", ends: ".done", model: "required", billed: "seconds", operation: "generate_content", about: "Translates audio to English." },
  { kind: "owned", method: "POST", path: "/v1/files", family: "files", body: "multipart", answer: "json", object: "file", does: "create", about: "Stores a file at a provider." },
  { kind: "owned", method: "GET", path: "/v1/files", family: "files", body: "none", answer: "json", object: "file", does: "list", about: "Lists the files that a provider stores." },
  { kind: "owned", method: "GET", path: "/v1/files/:file_id", family: "files", body: "none", answer: "json", object: "file", does: "retrieve", about: "Returns the facts of a file." },
  { kind: "owned", method: "DELETE", path: "/v1/files/:file_id", family: "files", body: "none", answer: "json", object: "file", does: "delete", about: "Deletes a file." },
  { kind: "owned", method: "GET", path: "/v1/files/:file_id/content", family: "files", body: "none", answer: "bytes", object: "file", does: "retrieve", about: "Returns the content of a file." },
  { kind: "owned", method: "POST", path: "/v1/batches", family: "batches", body: "json", answer: "json", object: "batch", does: "create", about: "Starts a batch at the provider of its input file." },
  { kind: "owned", method: "GET", path: "/v1/batches", family: "batches", body: "none", answer: "json", object: "batch", does: "list", about: "Lists the batches of a provider." },
  { kind: "owned", method: "GET", path: "/v1/batches/:batch_id", family: "batches", body: "none", answer: "json", object: "batch", does: "retrieve", about: "Returns a batch." },
  { kind: "owned", method: "POST", path: "/v1/batches/:batch_id/cancel", family: "batches", body: "optional", answer: "json", object: "batch", does: "act", returns: "batch", about: "Cancels a batch." },
  { kind: "owned", method: "POST", path: "/v1/uploads", family: "files", body: "json", answer: "json", object: "upload", does: "create", about: "Begins the upload of a large file in parts." },
  { kind: "owned", method: "POST", path: "/v1/uploads/:upload_id/parts", family: "files", body: "multipart", answer: "json", object: "upload", does: "act", returns: "upload.part", about: "Adds a part to an upload." },
  { kind: "owned", method: "POST", path: "/v1/uploads/:upload_id/complete", family: "files", body: "json", answer: "json", object: "upload", does: "act", returns: "upload", about: "Completes an upload, which makes it a file." },
  { kind: "owned", method: "POST", path: "/v1/uploads/:upload_id/cancel", family: "files", body: "optional", answer: "json", object: "upload", does: "act", returns: "upload", about: "Cancels an upload." },
];

/** Returns the relayed endpoint of a request type; null for any other request type. */
export function findRouted(type: RequestType): RoutedEndpoint | null {
  return RELAYED.find((one): one is RoutedEndpoint => one.kind === "routed" && one.path === type) ??
    null;
}

/** Returns the family of the stored objects that a path is for; null for any other path. */
export function findOwnedFamily(path: string): RelayFamily | null {
  return RELAYED.find((one) => one.kind === "owned" && fitsPath(one.path, path))?.family ?? null;
}

/** True if a path is one of those of an endpoint, whose parameters are not empty. */
export function fitsPath(pattern: string, path: string): boolean {
  const [names, parts] = [pattern.split("/"), path.split("/")];
  return names.length === parts.length &&
    names.every((name, at) => name.startsWith(":") ? parts[at] !== "" : name === parts[at]);
}
