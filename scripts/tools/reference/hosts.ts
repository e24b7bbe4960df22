import { type Host, type HostProfile, HOSTS } from "../../../src/data/hosts.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Returns the page `docs/reference/hosts.md`. */
export function hostsPage(): string {
  const all: readonly (readonly [string, Host])[] = Object.entries(HOSTS);
  const profiled = all.flatMap(([name, host]) =>
    host.profile === undefined ? [] : [{ name, host, profile: host.profile }]
  );
  return `# Hosts

${generatedNote("`src/data/hosts.ts`")}

What is known of hosts of models. It is data with a date: a host may have changed since. Nothing is
inferred from an address. \`switchyard check\` names the host of each target, and suggests a profile.

${
    tableText(
      ["host", "\`type\`", "\`base_url\`", "credential", "notes"],
      all.map(([, { title, type, baseUrl, auth, notes }]) => [
        title,
        `\`${type}\``,
        `\`${baseUrl}\``,
        AUTH[auth],
        notes ?? "",
      ]),
    )
  }

## Profiles

\`compatibility_profile: NAME\` at a provider of type \`compat\` bridges the differences of a host for every client
API. Keys that are set at the provider win.

\`\`\`yaml
providers:
  gemini:
    type: compat
    base_url: ${HOSTS.gemini.baseUrl}
    api_key: \${GEMINI_API_KEY}
    compatibility_profile: gemini

routing:
  routes:
    - name: main
      targets:
        - provider: gemini
\`\`\`

${
    tableText(
      ["profile", "differences"],
      profiled.map(({ name, profile }) => [`\`${name}\``, differences(profile).join("; ")]),
    )
  }

## Sources

${
    tableText(
      ["host", "as of", "sources"],
      all.map(([, { title, asOf, sources }]) => [title, asOf, sources.join(", ")]),
    )
  }
`;
}

const AUTH: Readonly<Record<Host["auth"], string>> = {
  bearer: "\`api_key\`",
  "x-api-key": "\`api_key\`",
  none: "none",
};

/** Returns what a profile changes, a phrase for each member. */
function differences(profile: HostProfile): string[] {
  const phrases: { readonly [Key in keyof Required<HostProfile>]: string } = {
    tokenLimit: `the limit of completion tokens is sent as \`${profile.tokenLimit}\``,
    hasDeveloperRole: "\`developer\` messages are sent as \`system\` messages",
    takesReasoning: "reasoning is sent back as `reasoning`",
    hasReasoningDetails:
      "signed and encrypted reasoning is stored, and sent back as `reasoning_details`",
    needsReasoning: "messages with tool calls always have \`reasoning_content\`",
    members:
      "other members of messages and tool calls than those of Chat Completions are left out (lossy)",
    unsignedCall:
      "signatures of tool calls are stored and sent back; a call that has none gets a word that the host accepts (lossy)",
    cacheMarks: "\`cache_control\` of Messages clients is sent for models of Anthropic",
    rewritesSchemas: "schemas of tools are rewritten to the words that the host knows",
  };
  return (Object.keys(phrases) as (keyof HostProfile)[])
    .filter((key) => profile[key] !== undefined).map((key) => phrases[key]);
}
