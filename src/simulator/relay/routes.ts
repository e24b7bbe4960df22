import type { RouteHandler, RouteTable } from "../routes.ts";
import { FILE_ROUTES } from "./files.ts";
import { editImages, generateImages, speak, transcribe, varyImages } from "./media.ts";
import { complete, moderate, rerank } from "./texts.ts";

/** The routes of completions, moderations, images, audio, files, batches, uploads and rerank. */
export const RELAY_ROUTES: RouteTable = new Map<string, RouteHandler>([
  ["POST /completions", complete],
  ["POST /moderations", moderate],
  ["POST /rerank", rerank],
  ["POST /images/generations", generateImages],
  ["POST /images/edits", editImages],
  ["POST /images/variations", varyImages],
  ["POST /audio/speech", speak],
  ["POST /audio/transcriptions", transcribe],
  ["POST /audio/translations", transcribe],
  ...FILE_ROUTES,
]);
