import type { ShotName } from "./matrix.ts";

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

/** A client of the matrix: the export `client` of a file in a folder `clients/`. */
export interface Client {
  readonly title: string;
  /**
   * The npm packages that the reference page shows. Those of imported clients have their versions
   * in the import map; those of command-line clients are written with it, such as
   * `opencode-ai@1.18.33`.
   */
  readonly packages: readonly string[];
  readonly shots: Readonly<Partial<Record<ShotName, Shot>>>;
  /** True if all its turns are on WebSockets; absent for HTTP. */
  readonly usesWebSocket?: boolean;
}
