import type { Config } from "../config/schema.ts";
import type { Demand, Handed } from "./handed.ts";
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
  /** Values that the parent has fetched until now. */
  readonly handed: readonly Handed[];
  readonly isColoured: boolean;
}

/** Message of the parent to a worker. */
export type ToWorker =
  | StartMessage
  | { readonly kind: "reload"; readonly config: Config }
  | Handed
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
  | { readonly kind: "demand"; readonly demanded: Demand }
  /** A client of this worker requests the metrics of all workers. */
  | { readonly kind: "scrape" }
  /** The worker has drained; these are its last metrics. */
  | { readonly kind: "drained"; readonly metrics: MetricValues };
