/** What a model's name tells about the fields it takes: each family has its own, and the service refuses the others'. */
import { type ModelTraits as ClaudeTraits, traitsOf as claudeTraitsOf } from '../claude-traits.ts';

export type ModelTraits = {
  /** Null: a model of another family. */
  readonly claude: ClaudeTraits | null;
  readonly isNova: boolean;
  /** How it is told to think. `fixed`: it cannot be told, or does not think. */
  readonly thinking: 'claude' | 'nova' | 'effort' | 'fixed';
  readonly topK: 'top_k' | 'nova' | null;
  readonly takesCachePoints: boolean;
  /** Among the tools, too. */
  readonly takesToolCachePoints: boolean;
  readonly takesLongCache: boolean;
  readonly takesOutputSchema: boolean;
  readonly takesForcedChoice: boolean;
  readonly takesStop: boolean;
  /** Whether a tool's result may be marked as an error; else its text says so. */
  readonly takesResultStatus: boolean;
  /** Whether a conversation may end with the assistant's turn. */
  readonly takesPrefill: boolean;
};

/** What every model takes. */
const plain: ModelTraits = {
  claude: null,
  isNova: false,
  thinking: 'fixed',
  topK: null,
  takesCachePoints: false,
  takesToolCachePoints: false,
  takesLongCache: false,
  takesOutputSchema: false,
  takesForcedChoice: true,
  takesStop: true,
  takesResultStatus: false,
  takesPrefill: false,
};

/** Open-weight families whose current models are held to a schema (Bedrock, structured outputs, November 2026). */
const withSchema =
  /^(qwen\.|openai\.gpt-oss|deepseek\.v|google\.gemma|minimax\.|moonshot|nvidia\.|mistral\.(magistral|ministral|mistral-large-3|voxtral))/;

/** A profile of an account's own says nothing of its model: it gets what every model takes. */
export function traitsOf(model: string): ModelTraits {
  const bare = bareModel(model);
  if (bare.startsWith('anthropic.')) return claude(bare);
  if (bare.startsWith('amazon.nova')) return nova(bare);
  return {
    ...plain,
    thinking: bare.startsWith('openai.') ? 'effort' : 'fixed',
    topK: bare.startsWith('mistral.') ? 'top_k' : null,
    takesOutputSchema: withSchema.test(bare),
    takesForcedChoice: !/^(meta|cohere|ai21)\./.test(bare),
    takesStop: !bare.startsWith('meta.'),
  };
}

function claude(bare: string): ModelTraits {
  const traits = claudeTraitsOf(bare);
  // Structured outputs and the longer cache came here with 4.5.
  const isFrom45 = /claude-[a-z]+-(4-[5-9]|[5-9])/.test(bare);
  const takesCachePoints = !/claude-(instant|v\d|3-(opus|sonnet|haiku))/.test(bare);
  return {
    ...plain,
    claude: { ...traits, takesOutputSchema: isFrom45 },
    thinking: 'claude',
    topK: 'top_k',
    takesCachePoints,
    takesToolCachePoints: takesCachePoints,
    takesLongCache: isFrom45,
    takesOutputSchema: isFrom45,
    takesResultStatus: true,
    takesPrefill: traits.takesPrefill,
  };
}

function nova(bare: string): ModelTraits {
  return {
    ...plain,
    isNova: true,
    thinking: bare.startsWith('amazon.nova-2') ? 'nova' : 'fixed',
    topK: 'nova',
    takesCachePoints: true,
    takesResultStatus: true,
  };
}

/** `us.amazon.nova-lite-v1:0`, or the same at the end of an ARN, without region and path. */
function bareModel(model: string): string {
  const name = model.split('/').at(-1) ?? model;
  return name.replace(/^(us|us-gov|eu|apac|jp|au|ca|global)\./, '');
}
