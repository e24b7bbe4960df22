import type { Path } from "./problems.ts";
import type { Config, RouteBody } from "./schema.ts";

/** The body of a route or of a named model, with its place in the file. */
interface PlacedBody {
  readonly path: Path;
  readonly name: string;
  readonly body: RouteBody;
}

/** Returns the bodies of all routes and named models with their places. */
export function placedBodies({ routing, models }: Config): readonly PlacedBody[] {
  return [
    ...routing.routes.map((body, index) => ({
      path: ["routing", "routes", index],
      name: body.name,
      body,
    })),
    ...Object.entries(models).map(([name, body]) => ({ path: ["models", name], name, body })),
  ];
}
