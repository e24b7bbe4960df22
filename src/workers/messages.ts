import type { Config } from "../config/schema.ts";
import type { CredentialUpdate } from "../core/credential.ts";
import type { KeysMessage } from "./key_messages.ts";
import type { Place } from "./share.ts";
import type { MetricValues } from "../observe/worker_metrics.ts";

/** First message to a worker: what it serves, and as which one. */
export interface StartMessage {
  readonly kind: "start";
  readonly place: Place;
  /** Port on which all workers listen. */
  readonly port: number;
  /** Number of the generation, the same in all workers. */
  readonly generation: number;
  /** ID of the gateway at the dashboard, the same in all workers. */
  readonly instanceId: string;
  /** The configuration of all workers; each serves its share. */
  readonly config: Config;
  /** The latest update of each credential that the parent refreshes, by its ID. */
  readonly credentials: readonly (readonly [id: string, update: CredentialUpdate])[];
  readonly isColoured: boolean;
  /** Keys of issuers of tokens. */
  readonly keys: readonly KeysMessage[];
}

/** Message of the parent to a worker. */
export type ToWorker =
  | StartMessage
  | { readonly kind: "reload"; readonly config: Config }
  /** A credential was refreshed, or could not be; also the response to `renew_credential`. */
  | { readonly kind: "credential"; readonly id: string; readonly update: CredentialUpdate }
  | KeysMessage
  /** Requests the metrics of the worker. */
  | { readonly kind: "measure" }
  /**
   * The metrics of all workers, in response to `scrape`; null after a bug, which the parent has
   * logged.
   */
  | { readonly kind: "scraped"; readonly text: string | null }
  /** Requests `alive`, to find a worker that hangs. */
  | { readonly kind: "ping" }
  | { readonly kind: "drain" };

/** Message of a worker to the parent. */
export type ToParent =
  | { readonly kind: "listening" }
  /** The start failed; the process ends. `problem` is one sentence. */
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "measured"; readonly metrics: MetricValues }
  /** Response to `ping`. */
  | { readonly kind: "alive" }
  /** A token names a key that the worker does not have. */
  | { readonly kind: "demand_keys"; readonly source: string }
  /** A client of this worker requests the metrics of all workers. */
  | { readonly kind: "scrape" }
  /** A provider has refused a credential. */
  | { readonly kind: "renew_credential"; readonly id: string }
  /** The worker has drained; these are its last metrics. */
  | { readonly kind: "drained"; readonly metrics: MetricValues };
