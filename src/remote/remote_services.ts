import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/schema.ts";
import { RELEASE_ADDRESS } from "../core/build.ts";
import type { World } from "../core/world.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Generation } from "../call/generation.ts";
import type { Log } from "../observe/log.ts";
import { type CapturedCall, newCapture } from "./capture.ts";
import { newCollector } from "./collector.ts";
import { eventCount, type ExportSettings, newEvents } from "./export.ts";
import { newReleaseCheck, type ReleaseCheckSettings } from "./release_check.ts";
import { newRemoteControl } from "./remote_control.ts";

/** Dependencies of the remote services. */
export interface RemoteServicesDeps {
  readonly world: World;
  readonly log: Log;
  /**
   * ID of this gateway at the dashboard, the same in all of its workers; a random one when absent.
   */
  readonly instanceId?: string;
  /** Counts dropped events. */
  dropped(events: number): void;
  /** Returns the current generation. */
  generation(): Generation;
  /** Serves a request of the dashboard under all policies of the gateway. */
  handle(request: Request): Promise<Response>;
}

/** On shutdown: time to send the responses of finished remote commands. */
const LAST_RESPONSES_TIMEOUT_MS = 1_000;

/**
 * Returns data sharing, remote control and the release check; none runs before a configuration is
 * applied.
 */
export function newOutbound(deps: RemoteServicesDeps) {
  const { instanceId = deps.world.uuid() } = deps;
  let closing: Promise<unknown> = Promise.resolve();

  const sharing = newSlot((settings: Sharing) => {
    const { identity } = settings;
    let { content } = settings;
    const collector = newCollector({ ...identity, instanceId }, deps);
    announce();

    function announce() {
      const { share_prompts, share_responses } = content;
      deps.log.info("calls are exported to the dashboard", { share_prompts, share_responses });
    }

    return {
      adapt(next: Sharing) {
        const isSame = isDeepStrictEqual(next.identity, identity);
        if (!isSame || isNarrower(next.content, content)) return false;
        const isWider = isNarrower(content, next.content);
        content = next.content;
        if (isWider) announce();
        return true;
      },
      share(call: CapturedCall) {
        // Events for a full queue are not built: an unreachable dashboard must not slow calls.
        if (!collector.hasRoom()) return collector.drop(eventCount(call, content));
        for (const event of newEvents(call, content, deps.world.wall())) collector.add(event);
      },
      flush: () => collector.flush(),
      // Queued events were captured under settings that no longer apply.
      close: () => collector.discard(),
    };
  });
  const control = newSlot((identity: Identity) =>
    newRemoteControl({ ...identity, instanceId }, deps)
  );
  const releases = newSlot((settings: ReleaseCheckSettings) => newReleaseCheck(settings, deps));

  /**
   * Returns a slot whose service runs while it has settings; it is replaced if it cannot adapt to
   * new ones.
   */
  function newSlot<Settings, Service extends Replaceable<Settings>>(
    open: (settings: Settings) => Service,
  ) {
    let current: { readonly settings: Settings; readonly service: Service } | null = null;
    return {
      get service() {
        return current?.service ?? null;
      },
      apply(settings: Settings | null) {
        if (isDeepStrictEqual(settings, current?.settings ?? null)) return;
        if (current !== null && settings !== null && current.service.adapt?.(settings)) {
          current = { settings, service: current.service };
          return;
        }
        if (current !== null) closing = Promise.all([closing, current.service.close()]);
        current = settings === null ? null : { settings, service: open(settings) };
      },
    };
  }

  function share(call: CapturedCall): void {
    sharing.service?.share(call);
  }

  return {
    /** Returns a capture for one call; null if data sharing is off. */
    newCapture:
      (({ id, generation, state }) =>
        newCapture(generation.config, share, id, state.admission)) satisfies Gateway["newCapture"],
    /** Applies a configuration: starts, ends or replaces the services that it changes. */
    apply(config: Config): void {
      sharing.apply(sharingOf(config));
      control.apply(controlOf(config));
      control.service?.announce();
      releases.apply(releasesOf(config));
    },
    /** Ends all services; queued events are sent within 5 s. */
    async close(): Promise<void> {
      releases.apply(null);
      const { service } = control;
      await Promise.all([
        closing,
        service?.finish(LAST_RESPONSES_TIMEOUT_MS),
        sharing.service?.flush(),
      ]);
    },
  };
}

/** A service with settings that can change. */
interface Replaceable<Settings> {
  /** Continues with other settings; returns false if the service must be replaced. */
  adapt?(settings: Settings): boolean;
  close(): Promise<void>;
}

interface Identity {
  readonly backendUrl: string;
  readonly apiKey: string;
}

interface Sharing {
  readonly identity: Identity;
  readonly content: ExportSettings;
}

/** True if `next` does not share something that `last` shared. */
function isNarrower(next: ExportSettings, last: ExportSettings): boolean {
  return last.share_prompts && !next.share_prompts ||
    last.share_responses && !next.share_responses ||
    last.gateway_lat !== undefined && next.gateway_lat === undefined ||
    last.gateway_lon !== undefined && next.gateway_lon === undefined;
}

function identityOf({ general, data_sharing }: Config): Identity | null {
  const { api_key = "", backend_url = "" } = general;
  if (!data_sharing.enabled) return null;
  return { backendUrl: backend_url.trim().replace(/\/+$/, ""), apiKey: api_key };
}

function sharingOf(config: Config): Sharing | null {
  const identity = identityOf(config);
  const { share_prompts, share_responses, gateway_lat, gateway_lon } = config.data_sharing;
  const content = { share_prompts, share_responses, gateway_lat, gateway_lon };
  return identity === null ? null : { identity, content };
}

function controlOf(config: Config): Identity | null {
  return config.data_sharing.remote_control ? identityOf(config) : null;
}

function releasesOf({ update_check }: Config): ReleaseCheckSettings | null {
  const { enabled, endpoint = "", interval, timeout } = update_check;
  const address = endpoint.trim() === "" ? RELEASE_ADDRESS : endpoint;
  return enabled && address !== null ? { endpoint: address, interval, timeout } : null;
}
