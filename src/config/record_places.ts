import type { RecordChoice } from "../core/record_choice.ts";
import type { Path } from "./problems.ts";
import type { Config } from "./schema.ts";

/** A place of the file that says what is recorded of its calls. */
interface RecordPlace {
  readonly path: Path;
  /** Kind of the place, with its name: `key ci`. */
  readonly title: string;
  readonly choice: RecordChoice;
}

/** Returns the keys, groups, named models and routes that say what is recorded. */
export function recordPlaces({ security, models, routing }: Config): readonly RecordPlace[] {
  const { api_key, groups } = security;
  const places = [
    ...api_key.keys.map(({ name, record }, at) => {
      return { path: ["security", "api_key", "keys", at], title: `key ${name}`, record };
    }),
    ...groups.map(({ name, record }, at) => {
      return { path: ["security", "groups", at], title: `group ${name}`, record };
    }),
    ...Object.entries(models).map(([name, { record }]) => {
      return { path: ["models", name], title: `model ${name}`, record };
    }),
    ...routing.routes.map(({ name, record }, at) => {
      return { path: ["routing", "routes", at], title: `route ${name}`, record };
    }),
  ];
  return places.flatMap(({ record, path, title }) =>
    record === undefined ? [] : [{ path: [...path, "record"], title, choice: record }]
  );
}

/** Returns the places of the file that ask for records. */
export function chosenPlaces(config: Config): readonly RecordPlace[] {
  return recordPlaces(config).filter(({ choice }) => choice === "heads" || choice === "all");
}
