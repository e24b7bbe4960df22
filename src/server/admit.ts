import { Departure } from "../core/departure.ts";
import { type Call, readControls } from "../gateway/call.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { newReport } from "../observe/report.ts";

/** A request as a call of its own: with an id, a report and the configuration of this moment. */
export function admit(gateway: Gateway, request: Request, path: string, endpoint: string): Call {
  const { generation, vault, world } = gateway;
  const id = world.uuid();
  const report = newReport(id, request.method, path, world.now());
  report.endpoint = endpoint;
  const { headers } = request;
  return {
    id,
    method: request.method,
    path,
    headers,
    controls: readControls(headers),
    departure: new Departure(),
    generation,
    vault,
    world,
    report,
  };
}
