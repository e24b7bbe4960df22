import type { ShotName } from "../matrix.ts";

/** Where one use of a client sends its requests. */
export interface Place {
  /** Base URL of the gateway without a path. */
  readonly root: string;
  /** Base URL with the `/v1` that clients of the OpenAI API expect. */
  readonly baseURL: string;
  readonly apiKey: string;
  /** Returns the model of the place's provider with this name in the simulator. */
  model(name: string): string;
}

/** Uses a client once, and throws if it did not receive what was promised. */
export type Shot = (place: Place) => Promise<void>;

/** A client of the matrix: the export `client` of a file in `clients/`. */
export interface Client {
  readonly title: string;
  /** The npm packages whose versions the reference page shows; the import map has the versions. */
  readonly packages: readonly string[];
  readonly shots: Readonly<Partial<Record<ShotName, Shot>>>;
}
