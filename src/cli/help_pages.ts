import gettingStarted from "../../docs/guide/getting-started.md" with { type: "text" };
import moving from "../../docs/guide/moving.md" with { type: "text" };
import clients from "../../docs/guide/clients.md" with { type: "text" };
import agents from "../../docs/guide/agents.md" with { type: "text" };
import models from "../../docs/guide/models.md" with { type: "text" };
import messages from "../../docs/guide/messages.md" with { type: "text" };
import providers from "../../docs/guide/providers.md" with { type: "text" };
import clouds from "../../docs/guide/clouds.md" with { type: "text" };
import routing from "../../docs/guide/routing.md" with { type: "text" };
import reliability from "../../docs/guide/reliability.md" with { type: "text" };
import streaming from "../../docs/guide/streaming.md" with { type: "text" };
import responses from "../../docs/guide/responses.md" with { type: "text" };
import nativeState from "../../docs/guide/native-state.md" with { type: "text" };
import websocket from "../../docs/guide/websocket.md" with { type: "text" };
import embeddingsModels from "../../docs/guide/embeddings-models.md" with { type: "text" };
import relay from "../../docs/guide/relay.md" with { type: "text" };
import privacy from "../../docs/guide/privacy.md" with { type: "text" };
import caching from "../../docs/guide/caching.md" with { type: "text" };
import promptCache from "../../docs/guide/prompt-cache.md" with { type: "text" };
import replay from "../../docs/guide/replay.md" with { type: "text" };
import security from "../../docs/guide/security.md" with { type: "text" };
import identity from "../../docs/guide/identity.md" with { type: "text" };
import teams from "../../docs/guide/teams.md" with { type: "text" };
import configuration from "../../docs/reference/configuration.md" with { type: "text" };
import cli from "../../docs/reference/cli.md" with { type: "text" };
import hosts from "../../docs/reference/hosts.md" with { type: "text" };
import spans from "../../docs/reference/spans.md" with { type: "text" };
import endpoints from "../../docs/reference/endpoints.md" with { type: "text" };
import clientMatrix from "../../docs/reference/clients.md" with { type: "text" };
import errors from "../../docs/reference/errors.md" with { type: "text" };
import faults from "../../docs/reference/faults.md" with { type: "text" };
import metrics from "../../docs/reference/metrics.md" with { type: "text" };
import logFields from "../../docs/reference/log-fields.md" with { type: "text" };
import requestFields from "../../docs/reference/request-fields.md" with { type: "text" };
import referees from "../../docs/reference/referees.md" with { type: "text" };
import reload from "../../docs/operate/reload.md" with { type: "text" };
import shutdown from "../../docs/operate/shutdown.md" with { type: "text" };
import workers from "../../docs/operate/workers.md" with { type: "text" };
import state from "../../docs/operate/state.md" with { type: "text" };
import record from "../../docs/operate/record.md" with { type: "text" };
import limits from "../../docs/operate/limits.md" with { type: "text" };
import admin from "../../docs/operate/admin.md" with { type: "text" };
import monitoring from "../../docs/operate/monitoring.md" with { type: "text" };
import tracing from "../../docs/operate/tracing.md" with { type: "text" };
import dataSharing from "../../docs/operate/data-sharing.md" with { type: "text" };
import performance from "../../docs/operate/performance.md" with { type: "text" };
import soak from "../../docs/operate/soak.md" with { type: "text" };
import executable from "../../docs/deploy/executable.md" with { type: "text" };
import debian from "../../docs/deploy/debian.md" with { type: "text" };
import systemd from "../../docs/deploy/systemd.md" with { type: "text" };
import launchd from "../../docs/deploy/launchd.md" with { type: "text" };
import windows from "../../docs/deploy/windows.md" with { type: "text" };
import homebrew from "../../docs/deploy/homebrew.md" with { type: "text" };
import docker from "../../docs/deploy/docker.md" with { type: "text" };
import kubernetes from "../../docs/deploy/kubernetes.md" with { type: "text" };
import helm from "../../docs/deploy/helm.md" with { type: "text" };
import architecture from "../../docs/architecture.md" with { type: "text" };
import simulator from "../../docs/develop/simulator.md" with { type: "text" };
import releasing from "../../docs/develop/releasing.md" with { type: "text" };
import httpClient from "../../docs/develop/http-client.md" with { type: "text" };

/** One page of the documentation. */
export interface HelpPage {
  /**
   * Name of its file without the ending: the argument of `switchyard help`. The second page of a
   * name has its folder before it.
   */
  readonly topic: string;
  /** The page as Markdown; its first line is the title. */
  readonly text: string;
}

/** Every page of `docs/`, in the order of its index. The texts are part of the executable. */
export const HELP_PAGES: readonly HelpPage[] = [
  { topic: "getting-started", text: gettingStarted },
  { topic: "moving", text: moving },
  { topic: "clients", text: clients },
  { topic: "agents", text: agents },
  { topic: "messages", text: messages },
  { topic: "providers", text: providers },
  { topic: "clouds", text: clouds },
  { topic: "routing", text: routing },
  { topic: "reliability", text: reliability },
  { topic: "streaming", text: streaming },
  { topic: "responses", text: responses },
  { topic: "native-state", text: nativeState },
  { topic: "websocket", text: websocket },
  { topic: "models", text: models },
  { topic: "embeddings-models", text: embeddingsModels },
  { topic: "relay", text: relay },
  { topic: "caching", text: caching },
  { topic: "privacy", text: privacy },
  { topic: "prompt-cache", text: promptCache },
  { topic: "replay", text: replay },
  { topic: "security", text: security },
  { topic: "teams", text: teams },
  { topic: "identity", text: identity },
  { topic: "configuration", text: configuration },
  { topic: "cli", text: cli },
  { topic: "hosts", text: hosts },
  { topic: "spans", text: spans },
  { topic: "endpoints", text: endpoints },
  { topic: "reference/clients", text: clientMatrix },
  { topic: "errors", text: errors },
  { topic: "faults", text: faults },
  { topic: "metrics", text: metrics },
  { topic: "log-fields", text: logFields },
  { topic: "request-fields", text: requestFields },
  { topic: "referees", text: referees },
  { topic: "reload", text: reload },
  { topic: "shutdown", text: shutdown },
  { topic: "workers", text: workers },
  { topic: "state", text: state },
  { topic: "record", text: record },
  { topic: "limits", text: limits },
  { topic: "admin", text: admin },
  { topic: "monitoring", text: monitoring },
  { topic: "tracing", text: tracing },
  { topic: "data-sharing", text: dataSharing },
  { topic: "performance", text: performance },
  { topic: "soak", text: soak },
  { topic: "executable", text: executable },
  { topic: "debian", text: debian },
  { topic: "systemd", text: systemd },
  { topic: "launchd", text: launchd },
  { topic: "windows", text: windows },
  { topic: "homebrew", text: homebrew },
  { topic: "docker", text: docker },
  { topic: "kubernetes", text: kubernetes },
  { topic: "helm", text: helm },
  { topic: "architecture", text: architecture },
  { topic: "simulator", text: simulator },
  { topic: "releasing", text: releasing },
  { topic: "http-client", text: httpClient },
];
