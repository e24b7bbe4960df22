import type { ErrorFormat } from "../../core/error_format.ts";
import { openaiErrors } from "../../core/openai_error.ts";

/** The error format of the Messages API. */
export const messagesErrors: ErrorFormat = openaiErrors;
