import type { RelayFamily } from "../core/endpoint.ts";
import { HOSTS } from "../data/hosts.ts";
import type { Settings } from "./providers.ts";

/** Values of `model_info.mode` for models that every provider serves. */
const SERVED = ["chat", "responses"];

/** Values of `model_info.mode` for models behind relayed endpoints. */
const FAMILIES: Readonly<Record<string, RelayFamily>> = {
  completion: "completions",
  moderation: "moderations",
  image_generation: "images",
  image_edit: "images",
  audio_transcription: "audio",
  audio_speech: "audio",
  batch: "batches",
  rerank: "rerank",
};

/**
 * Returns why a provider with these settings does not serve all requests for a model with this
 * `model_info.mode`; null if it does. `isRenamed` says that the model has another name there.
 */
export function refusedMode(
  mode: string | null,
  settings: Settings,
  isRenamed: boolean,
): string | null {
  if (mode === null || SERVED.includes(mode)) return null;
  const { type, base_url } = settings;
  const isOpenai = type === "compat" && base_url === HOSTS.openai.baseUrl;
  const isEmbedding = mode === "embedding";
  const family = Object.hasOwn(FAMILIES, mode) ? FAMILIES[mode] : undefined;
  if (isOpenai && mode === "batch" && isRenamed) {
    return "the file of a batch is sent as it is: it needs the name of the model at the provider";
  }
  if (isOpenai && (isEmbedding || family !== undefined)) return null;
  if (isEmbedding && type === "compat") {
    return "set capabilities.embeddings_base64 of the provider for the SDKs of OpenAI, which ask for base64";
  }
  if (isEmbedding && type === "local") {
    return "only as numbers: the SDKs of OpenAI ask for base64, unless encoding_format is float";
  }
  if (family !== undefined && type === "compat") {
    return `set capabilities.relay: [${family}] of the provider, if it has these endpoints`;
  }
  return "the provider serves no models of this kind here";
}
