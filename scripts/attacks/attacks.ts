import { cachedAnswers } from "./cached_answers.ts";
import { drawnModels } from "./drawn_models.ts";
import { enteringBodies } from "./entering_bodies.ts";
import { http2Pings } from "./http2.ts";
import { images } from "./images.ts";
import { keptTexts } from "./kept_texts.ts";
import { largeMessages } from "./large_messages.ts";
import { largeLists } from "./lists.ts";
import { nestedJson } from "./nested_json.ts";
import { patterns } from "./patterns.ts";
import { rateBuckets } from "./rate_buckets.ts";
import { refusedMessages } from "./refused_messages.ts";
import { socketFloods } from "./socket_floods.ts";
import { storedObjects } from "./stored_objects.ts";
import { strictCalls } from "./strict_calls.ts";
import type { Attack } from "./support.ts";
import { unfinishedHeads } from "./unfinished_heads.ts";
import { unreadFiles, unreadResponses } from "./unread_responses.ts";

/** All attacks, in the order of their rows. */
export const ATTACKS: readonly Attack[] = [
  patterns,
  unreadResponses,
  unreadFiles,
  ...enteringBodies,
  ...nestedJson,
  ...keptTexts,
  ...largeMessages,
  refusedMessages,
  ...socketFloods,
  http2Pings,
  ...storedObjects,
  ...largeLists,
  ...cachedAnswers,
  strictCalls,
  images,
  rateBuckets,
  drawnModels,
  unfinishedHeads,
];
