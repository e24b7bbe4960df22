import {
  anyObject,
  byType,
  type Fields,
  flag,
  listOf,
  mapOf,
  number,
  objectOf,
  orNull,
  type Shape,
  text,
  texts,
  whole,
} from "./shape.ts";

const networkPolicy = objectOf({
  type: text,
  allowed_domains: texts,
  domain_secrets: listOf(objectOf({ domain: text, name: text, value: text })),
});

const container: Fields = {
  type: text,
  file_ids: texts,
  memory_limit: text,
  network_policy: networkPolicy,
};

/** Skills on the client's own machine. */
const localSkills = listOf(objectOf({ name: text, description: text, path: text }));

/** Skills that are loaded into a container. */
const containerSkills = listOf(byType({
  skill_reference: { skill_id: text, version: text },
  inline: {
    name: text,
    description: text,
    source: objectOf({ type: text, media_type: text, data: text }),
  },
}));

/** The environment in which a shell tool runs its commands. */
export const shellEnvironment = byType({
  container_auto: { ...container, skills: containerSkills },
  local: { skills: localSkills },
  container_reference: { container_id: text },
});

const location = objectOf({ type: text, country: text, region: text, city: text, timezone: text });

const webSearch: Fields = {
  external_web_access: flag,
  filters: objectOf({ allowed_domains: texts }),
  user_location: location,
  search_context_size: text,
};

const webSearchPreview: Fields = {
  user_location: location,
  search_context_size: text,
  search_content_types: texts,
};

const comparison: Fields = {
  type: text,
  key: text,
  value: {
    string: true,
    boolean: true,
    number: "any",
    array: { string: true, number: "any" },
  },
};

/** A file filter: a comparison, or a combination of filters. */
const fileFilter: Shape = {
  object: ({ type }) =>
    type === "and" || type === "or" ? { filters: listOf(fileFilter) } : comparison,
};

const toolFilter: Fields = { tool_names: texts, read_only: flag };

const callable: Fields = { defer_loading: flag, allowed_callers: texts };

/** A tool (Responses API, tools). */
export const tool: Shape = byType({
  function: {
    ...callable,
    name: text,
    description: text,
    parameters: orNull(anyObject),
    output_schema: anyObject,
    strict: orNull(flag),
  },
  custom: {
    ...callable,
    name: text,
    description: text,
    format: byType({ grammar: { syntax: text, definition: text } }),
  },
  // A function, because a namespace holds tools itself.
  namespace: {
    name: text,
    description: text,
    tools: listOf({ object: (value) => fieldsOf(value) }),
  },
  tool_search: { execution: text, description: text, parameters: anyObject },
  file_search: {
    vector_store_ids: texts,
    max_num_results: whole,
    ranking_options: objectOf({
      ranker: text,
      score_threshold: number,
      hybrid_search: objectOf({ embedding_weight: number, text_weight: number }),
    }),
    filters: fileFilter,
  },
  computer_use_preview: { environment: text, display_width: whole, display_height: whole },
  web_search: webSearch,
  web_search_2025_08_26: webSearch,
  web_search_preview: webSearchPreview,
  web_search_preview_2025_03_11: webSearchPreview,
  mcp: {
    ...callable,
    server_label: text,
    server_url: text,
    connector_id: text,
    tunnel_id: text,
    authorization: text,
    server_description: text,
    headers: mapOf(text),
    allowed_tools: { ...texts, ...objectOf(toolFilter) },
    require_approval: {
      ...text,
      ...objectOf({ always: objectOf(toolFilter), never: objectOf(toolFilter) }),
    },
  },
  code_interpreter: { container: { ...text, ...objectOf(container) }, allowed_callers: texts },
  image_generation: {
    model: text,
    quality: text,
    size: text,
    output_format: text,
    output_compression: whole,
    moderation: text,
    background: text,
    input_fidelity: text,
    input_image_mask: objectOf({ image_url: text, file_id: text }),
    partial_images: whole,
    action: text,
  },
  shell: { environment: shellEnvironment, allowed_callers: texts },
  apply_patch: { allowed_callers: texts },
});

function fieldsOf(value: Parameters<NonNullable<Shape["object"]>>[0]): Fields {
  return tool.object?.(value) ?? {};
}

/** The tool that a model must call (Responses API, `tool_choice`). */
export const toolChoice: Shape = {
  ...text,
  ...byType({
    allowed_tools: { mode: text, tools: listOf(anyObject) },
    function: { name: text },
    custom: { name: text },
    mcp: { server_label: text, name: text },
  }),
};
